"""qperf's RDMA tests on the stand-in device: ours by count and by time, and against the real qperf both ways."""
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from processes import SCALE
from qperf_rows import shape

TIMEOUT_S = 60 * SCALE
STREAMS = ['rc_bw', 'rc_rdma_write_bw', 'uc_bw', 'uc_rdma_write_bw', 'ud_bw', 'xrc_bw']
BOTH = ['rc_bi_bw', 'uc_bi_bw', 'ud_bi_bw', 'xrc_bi_bw']
LATENCIES = ['rc_lat', 'rc_rdma_write_lat', 'rc_rdma_write_poll_lat', 'uc_lat', 'uc_rdma_write_lat',
             'uc_rdma_write_poll_lat', 'ud_lat', 'xrc_lat']
ALONE = ['rc_rdma_read_bw', 'rc_rdma_read_lat', 'rc_compare_swap_mr', 'rc_fetch_add_mr', 'ver_rc_compare_swap',
         'ver_rc_fetch_add']
ALL = STREAMS + BOTH + LATENCIES + ALONE


@pytest.fixture
def serve(fabperf, environment, free_port):
    """serve(faults, real=False) → the port of a server on the stand-in device."""
    started = []

    def call(faults='', real=False):
        port = free_port()
        words = ['qperf'] if real else [str(fabperf), 'qperf']
        started.append(subprocess.Popen([*words, '-lp', str(port)], env=environment(faults),
                                        stdout=subprocess.DEVNULL))
        return port

    yield call
    for process in started:
        process.terminate()
        process.wait(TIMEOUT_S)


@pytest.fixture
def ask(fabperf, environment):
    def call(port, *words, faults='', real=False):
        program = ['qperf'] if real else [str(fabperf), 'qperf']
        return subprocess.run([*program, '127.0.0.1', '-lp', str(port), *map(str, words)], env=environment(faults),
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return call


def rows(text):
    """[(test, {row: number})] of an output with -uu."""
    found = []
    for line in text.splitlines():
        if not line.startswith(' '):
            found.append((line.rstrip(':'), {}))
        elif match := re.match(r'    (\S+) *  =  +([\d.]+)', line):
            found[-1][1][match[1]] = float(match[2])
    return found


def in_pool(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(*call) for call in calls]]


def test_by_count_all_is_counted(serve, ask):
    """Exactly as many as asked for, at both ends, in every test; values of atomics are checked on the way."""
    ended = ask(serve(), '-n', 100, '-m', 1024, '-uu', '-vvs', *ALL)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = rows(ended.stdout)
    assert [name for name, _ in found] == ALL
    for name, row in found:
        assert {value for key, value in row.items() if key.endswith('_msgs') and 'lost' not in key} == {100}, name
        assert next(iter(row.values())) > 0, name


def test_what_finds_no_receive_is_lost_and_ends_the_test_all_the_same(serve, ask):
    """More large messages than receives are posted: UC drops what comes too early."""
    ended = ask(serve(), '-n', 300, '-uu', '-vvs', 'uc_bw')
    (_, row), = rows(ended.stdout)
    assert ended.returncode == 0 and row['send_msgs'] == 300 and 16 <= row['recv_msgs'] <= 300


def test_by_time_every_test_has_a_figure(serve, ask):
    def some(names):
        ended = ask(serve(), '-t', 0.2, '-m', 1024, '-uu', *names)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        for name, row in rows(ended.stdout):
            assert all(value > 0 for value in row.values()) and row, (name, row)

    in_pool([(some, ALL[part::3]) for part in range(3)])


def test_roles_are_exchanged(serve, ask):
    ended = ask(serve(), '-f1', '-n', 100, '-uu', '-vvs', 'rc_bw', 'ud_lat', 'xrc_bw', 'xrc_lat')
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for name, row in rows(ended.stdout):
        assert {value for key, value in row.items() if key.endswith('_msgs')} == {100}, name


def test_every_example_of_the_help_works_as_printed(serve, ask, fabperf):
    text = subprocess.run([fabperf, 'qperf', '--help', 'examples'], capture_output=True, text=True, check=True).stdout
    examples = re.findall(r'^        qperf myserver (.+)$', text, re.M)
    assert len(examples) > 5
    for words in examples:
        ended = ask(serve(), '-t', 0.05, *words.replace('-t 10', '-t 0.05').split())
        assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize('polls', ['-cp1', '-lcp1', '-rcp1'])
def test_polling(serve, ask, polls):
    ended = ask(serve(), polls, '-n', 100, 'rc_lat', 'rc_bw')
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize('test', ['uc_lat', 'ud_lat'])
@pytest.mark.parametrize('side', ['server', 'client'])
def test_a_lost_datagram_is_one_sample_less(serve, ask, side, test):
    """The third question, or the answer to it, is lost: the test goes on after a tenth of a second."""
    faults = {side: 'drop=3'}
    ended = ask(serve(faults.get('server', '')), '-n', 50, '-uu', '-vvs', test, faults=faults.get('client', ''))
    (_, row), = rows(ended.stdout)
    assert row['lost_msgs'] == 1 and row['loc_recv_msgs'] == 50
    assert row['latency'] < 50e6


@pytest.mark.parametrize('words, sentence', [
    (['-m', '4', 'ver_rc_fetch_add'], 'message size must be at least 8'),
    (['-nr', '200', 'rc_rdma_read_bw'], 'device only supports 16 (< 200) RDMA reads or atomics'),
    (['-mt', '3000', 'rc_bw'], 'bad MTU: 3000; must be 256/512/1K/2K/4K'),
    (['-sr', 'EDR', 'rc_bw'], 'bad static rate: EDR'), (['-i', 'double0:0', 'rc_bw'], 'bad IB port: 0'),
    (['-i', 'nosuch', 'rc_bw'], 'failed to find InfiniBand device nosuch'),
    (['-i', 'double0:9', 'rc_bw'], 'query port failed'), (['-m', '8000', 'ud_bw'], 'a UD message has at most'),
])
def test_what_cannot_be_is_said(serve, ask, words, sentence):
    ended = ask(serve(), '-t', 0.2, *words)
    assert ended.returncode == 1 and sentence in ended.stdout + ended.stderr


def test_a_failed_completion_ends_both_ends(serve, ask):
    begun = time.monotonic()
    ended = ask(serve(), '-t', 20, 'rc_bw', faults='status=100:RETRY_EXC_ERR')
    assert ended.returncode == 1 and 'rc_bw failed: transport retry counter exceeded' in ended.stdout
    assert time.monotonic() - begun < 15 * SCALE


@pytest.mark.parametrize('side', ['server', 'client'])
def test_a_device_without_xrc(serve, ask, side):
    ended = ask(serve('no_xrc' if side == 'server' else ''), 'xrc_bw', faults='no_xrc' if side == 'client' else '')
    assert ended.returncode == 1 and 'RDMA device double0 has no XRC' in ended.stdout + ended.stderr


@pytest.fixture
def real():
    if not shutil.which('qperf'):
        pytest.skip('qperf is not installed')


THEIRS = [name for name in ALL if not name.startswith('xrc')]
# Display options, and every other one, plain or for one side: those that a test has no use for are warned of.
OPTIONS = [['-vv'],
           [*'-cp1 -i double0 -nr 4 -mt 1K -un -uu -v -ub -sl 1 -ar 1 -sp 0 -sr max -ap 1 -ip 0 -sb 4K'.split(),
            *'-lsb 8K -rto 6 -lca 1 -e 5'.split()]]


def test_the_same_lines_as_the_real_one(serve, ask, real):
    """Real at both ends and ours at both ends: the same warnings, rows, order and units in each of its tests."""
    def lines(real, options, names):
        ended = ask(serve('link=ib', real=real), '-t', 1 if real else 0.2, '-m', 1024, *options, *names,
                    faults='link=ib', real=real)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return list(shape(ended.stdout))

    sets = [(options, THEIRS[part::3]) for options in OPTIONS for part in range(3)]
    theirs, own = (in_pool([(lines, real, *some) for some in sets]) for real in (True, False))
    for some, expected, found in zip(sets, theirs, own):
        assert found == expected, some


def test_the_real_one_at_the_other_end(serve, ask, real):
    """InfiniBand link: the real qperf knows no RoCE without rdma_cm. Thirds of the tests, both ways, all at once."""
    def pair(real, names):
        # Without -m a real client asks for atomics of 0 bytes.
        ended = ask(serve('link=ib', real=real), '-t', 1, '-uu', *names, faults='link=ib', real=not real)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        found = rows(ended.stdout)
        assert [name for name, _ in found] == names
        for name, row in found:
            assert all(value > 0 for value in row.values()), (name, row)

    in_pool([(pair, real, THEIRS[part::3]) for real in (True, False) for part in range(3)])


def test_a_real_server_is_not_asked_for_xrc(serve, ask, real):
    ended = ask(serve('link=ib', real=True), 'xrc_bw', faults='link=ib')
    assert ended.returncode == 1 and 'XRC: the server is qperf 0.4.11' in ended.stdout
