"""Bad command lines: one sentence on stderr, exit status 1, nothing on stdout, no file and no process left."""
import re
import subprocess
from dataclasses import dataclass

import pytest

pytestmark = [pytest.mark.plain, pytest.mark.waits]

TIMEOUT_S = 10  # none of these lines gets as far as a connection
CLIENT = ('-n', 'localhost', '--launch_server', 'off', '--port', '1')  # were one taken, it would fail in another way

ROW = re.compile(r'^  (?:-(?P<letter>\w), |    )--(?P<key>\w+)(?: (?P<value>\[?[A-Z|a-z]+\]?))?(?:\s|$)', re.M)


@dataclass(frozen=True)
class Option:
    """A row of the help: its names, whether it takes a value, and what the brackets say of it."""
    letter: str
    key: str
    value: str
    allowed: str

    @property
    def needs_value(self):
        return bool(self.value) and not self.value.startswith('[')

    @property
    def is_number(self):
        return bool(re.search(r'\d \w+|to \d', self.allowed)) and ' to ' in self.allowed


def options_of(text):
    found = list(ROW.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends):
        body = ' '.join(text[match.end():end].split())
        brackets = re.findall(r'\[([^]]*)\]', body)
        allowed = brackets[-1].partition('; ')[2] if brackets else ''
        yield Option(match['letter'] or '', match['key'], match['value'] or '', allowed)


@pytest.fixture(scope='module')
def options(fabperf):
    text = subprocess.run([fabperf, '--help'], capture_output=True, text=True, check=True, timeout=TIMEOUT_S).stdout
    return list(options_of(text))


def problem(result, fragment, files):
    """What is wrong with how the program refused, None when all is well."""
    lines = result.stderr.splitlines()
    if result.rc != 1:
        return f'exit status {result.rc}'
    if len(lines) != 1 or not lines[0].startswith('fabperf: ') or not result.stderr.endswith('\n'):
        return f'stderr {result.stderr!r}'
    if result.stdout:
        return f'stdout {result.stdout!r}'
    if fragment not in lines[0]:
        return f'{fragment!r} is not in {lines[0]!r}'
    if files:
        return f'files {files}'
    return None


@pytest.fixture
def refused(run, tmp_path):
    """refused([(words, fragment), ...]): every line is refused with a sentence that contains the fragment."""
    def call(lines):
        wrong = []
        for words, fragment in lines:
            result = run(list(words), timeout=TIMEOUT_S, cwd=tmp_path)
            if found := problem(result, fragment, [path.name for path in tmp_path.iterdir()]):
                wrong.append(f'fabperf {" ".join(map(repr, words))}: {found}')
        assert not wrong, '\n'.join(wrong)
    return call


def swapped(key):
    """The key with two neighbours in its middle exchanged; None where that changes nothing."""
    for at in range(len(key) // 2, len(key) - 1):
        if key[at] != key[at + 1] and '_' not in key[at:at + 2]:
            return key[:at] + key[at + 1] + key[at] + key[at + 2:]
    return None


def test_the_table_is_read(options):
    assert len(options) > 60
    assert {option.letter for option in options} > set('dnNCcvmsDiqrRwjtSghVM')
    assert sum(option.is_number for option in options) > 35


def test_misspelt_options(options, refused):
    words = [(option, swapped(option.key)) for option in options]
    refused([((f'--{word}',), f'unknown option --{word}: did you mean --') for _, word in words if word])
    long = [(option, word) for option, word in words if word and len(option.key) > 4]
    refused([((f'--{word}=1', *CLIENT), f'did you mean --{option.key}?') for option, word in long])


def test_options_that_do_not_exist(options, refused):
    refused([((f'--{option.key}_zzz',), f'unknown option --{option.key}_zzz') for option in options])


def test_missing_values(options, refused):
    need = [option for option in options if option.needs_value]
    refused([((f'--{option.key}',), f'--{option.key} needs a value') for option in need])
    refused([((f'--{option.key}=',), f'--{option.key} needs a value') for option in need])
    refused([((f'--{option.key}', '--once'), f'--{option.key} needs a value, but the option --once follows it')
             for option in need])
    refused([((f'-{option.letter}',), f'-{option.letter} needs a value') for option in need if option.letter])


def test_superfluous_values(options, refused):
    flags = [option for option in options if not option.value]
    assert len(flags) >= 5
    refused([((f'--{option.key}=1',), f"--{option.key} takes no value, but '1' follows it") for option in flags])


def test_bad_numbers(options, refused):
    numbers = [option for option in options if option.is_number]
    for bad in ('abc', '1x', '-1', '1 ', '99999999999999999999999999'):
        refused([((f'--{option.key}={bad}',), f"--{option.key}: '{bad.strip()}") for option in numbers])


def test_bad_words(options, refused):
    words = [option for option in options if option.allowed and not option.is_number]
    assert len(words) >= 10
    refused([((f'--{option.key}=zzz',), f"--{option.key}: 'zzz' is not ") for option in words])


def test_options_given_twice(options, refused):
    def sample(option):
        first = option.allowed.replace(',', ' ').split()
        samples = {'operations': 'write:8', 'rate': '1G', 'cc_group_hints': '/dev/null,0,1,1'}
        return samples.get(option.key) or {'CORES': '1', 'LIST': '50'}.get(option.value, first[0] if first else 'x')

    for option in options:
        one = f'--{option.key}={sample(option)}' if option.value else f'--{option.key}'
        refused([((one, one), f'--{option.key} is there twice')])


HAND_WRITTEN = [
    ('server', 'belongs to no option'),
    ('-', 'belongs to no option'),
    ('--', 'is not an option'),
    ('-Z', 'unknown option -Z'),
    ('-duration 5', 'the long option is --duration'),
    ('-a', '-a has no effect on a server'),
    ('-x 3', 'here -g'),
    ('-p 18515', 'here --port'),
    ('-I 64', 'here --inline_size'),
    ('-F', 'leave it out'),
    ('-m 4096', 'here --mtu'),
    ('-r 512', 'here --rx_depth'),
    ('-s 64q', 'is not a size'),
    ('-s 64KK', 'is not a size'),
    ('-s 1.5K', 'is not a size'),
    ('-D 10sec', 'is not a time'),
    ('-D 1e3', 'is not a time'),
    ('--percentiles 99,50', 'ascending order'),
    ('--percentiles 0,50', 'out of range'),
    ('-C 3-1', '-C: '),
    ('-C 1,1', '-C: '),
    ('-C 1,', '-C: '),
    ('--mtu 1000', '256, 512, 1024, 2048 or 4096'),
    # sides
    ('-j', 'no effect on a server'),
    ('-R 1', 'no effect on a server'),
    ('--ssh ssh', 'no effect on a server'),
    ('--server_exe x', 'no effect on a server'),
    ('--launch_server disable', 'no effect on a server'),
    ('--print_json_results', 'no effect on a server'),
    ('-n localhost --once', 'no effect on a client'),
    ('-n localhost --bind ::1', 'no effect on a client'),
    ('-n localhost --memory_limit 1G', 'no effect on a client'),
    ('-n localhost --port 0', 'for a server only'),
    ('--host=-oProxyCommand=false', "must not begin with '-'"),
    ('-n localhost --server_username=-x', "must not begin with '-'"),
    # what excludes each other
    ('-D 5 -i 5', 'exclude each other'),
    ('-n localhost -r null -D 5 -i 5', '-D and -i exclude each other'),
    ('-n localhost -r null -w 1 --warmup_iterations 5', 'exclude each other'),
    ('-n localhost -r null -i 5 --end_margin 1', 'exclude each other'),
    ('-n localhost -r null -C 0 --exclude_cores 1', 'exclude each other'),
    ('-n localhost -r null --launch_server off --ssh ssh', 'no server is started'),
    # what does not go together
    ('-n localhost -r null -c TCP', '-c RC, UC or UD'),
    ('-n localhost -r null -c UDP', '-c RC, UC or UD'),
    ('-n localhost -r sock -c RC', '-c TCP or UDP'),
    ('-n localhost -r ibv -c UDP', '-c RC, UC, UD, XRC or DC'),
    ('-n localhost -c TCP -v write', 'which takes -v send'),
    ('-n localhost -c TCP -v read', 'which takes -v send'),
    ('-n localhost -c UDP -v write_imm', 'which takes -v send'),
    ('-n localhost -c UDP -v atomic_cs', 'which takes -v send'),
    ('-n localhost -c UD -v write', 'which takes -v send'),
    ('-n localhost -c UD -v atomic_fa -m lat', 'which takes -v send'),
    ('-n localhost -c UC -v read', 'which takes -v write, write_imm or send'),
    ('-n localhost -c UC -v atomic_fa', 'which takes -v write, write_imm or send'),
    ('-n localhost -r null -v atomic_fa -s 16', 'has 8 bytes'),
    ('-n localhost -r null -c UD -s 8192', 'at most 4096 bytes'),
    ('-n localhost -c UDP -s 64K', 'at most 65507 bytes'),
    ('-n localhost -r null -t 8 --post_batch 9', 'more than -t 8'),
    ('-n localhost -r null --cq_mod 129', 'more than -t 128 (the default)'),
    ('-n localhost -r null -t 20 --post_batch 16 --cq_mod 20', 'neither divides the other'),
    ('-n localhost -r null -c UD --rx_depth 4 --post_batch 8', 'more than --rx_depth 4'),
    ('-n localhost -r null -C 0,1 -N 3', 'each worker has a core'),
    ('-n localhost -r null -R 1ms', 'at least 10ms'),
    # what has no effect
    ('-n localhost -c TCP --gso', '--gso has no effect with -c TCP: it applies to -c UDP'),
    ('-n localhost -c UDP --zerocopy', 'it applies to -c TCP'),
    ('-n localhost -c TCP -t 4', 'it applies to -c RC, UC, UD, RDM, MSG, DGRAM, XRC or DC'),
    ('-n localhost -c TCP -g 3', 'it applies to -c RC, UC, UD, XRC or DC'),
    ('-n localhost -c TCP --null_rate 1G', 'it applies to -r null'),
    ('-n localhost -r null -d eth0', 'it applies to -r ibv, sock, ofi or dv'),
    ('-n localhost -r null -S 3', 'it applies to -r ibv'),
    ('-n localhost -r null --sock_buf 1M', 'it applies to -c TCP or UDP'),
    ('-n localhost -r null -v read --rx_depth 4', 'it applies to -v write_imm or send'),
    ('-n localhost -r null -m lat -t 4', 'without --rate: one message is under way at a time'),
    ('-n localhost -r null -m lat --post_batch 4', 'it applies to -m bw'),
    ('-n localhost -r null -m lat --end_margin 1', 'it applies to -m bw'),
    ('-n localhost -r null -m lat --warmup_iterations 9', 'it applies to -m bw'),
    ('-n localhost -r null -m lat -R 1', 'it applies to -m bw'),
    ('-n localhost -r null -m lat --bw_threshold 1', 'it applies to -m bw'),
    ('-n localhost -r null --lat_threshold 1', 'it applies to -m lat'),
    ('-n localhost -r null --percentiles 50', 'it applies to -m lat'),
]


def test_hand_written_lines(refused):
    refused([(line.split(), fragment) for line, fragment in HAND_WRITTEN])


def test_bytes_that_are_no_text(refused):
    refused([
        (('-n', 'a\nb'), 'control character'),
        (('-n', '\x1b[2J'), 'control character'),
        (('-d', 'x' * 64), 'too long'),
        (('-n', 'x' * 100000), 'too long'),
        (('--' + 'y' * 100000,), 'is not an option'),
        (('-s', '9' * 100000), 'is too large'),
        (('-C', ','.join(['1'] * 50000)), '-C: '),
        (('-v', 'ä\nb'), 'is not auto, write'),
        (('',), 'belongs to no option'),
        (('-q', ''), 'needs a value'),
    ])
