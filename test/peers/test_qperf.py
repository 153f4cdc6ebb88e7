"""'fabperf qperf' and the real qperf: each against the other's server, and the same rows for the same options."""
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

TIMEOUT_S = 40
SERVERS = {'real': ['qperf'], 'ours': None}
PAIRS = [('real', 'ours'), ('ours', 'real'), ('ours', 'ours')]  # server, client
# What may differ between two runs: figures, and with them the scale of a unit.
SCALES = {'KB/sec': 'B/sec', 'MB/sec': 'B/sec', 'GB/sec': 'B/sec', 'ns': 's', 'us': 's', 'ms': 's', 'sec': 's',
          'K/sec': '/sec', 'M/sec': '/sec', 'KB': 'B', 'MB': 'B', 'GB': 'B', 'KiB': 'B', 'MiB': 'B', 'GiB': 'B',
          'Kb/sec': 'b/sec', 'Mb/sec': 'b/sec', 'Gb/sec': 'b/sec', 'ms/GB': 's/GB', 'sec/GB': 's/GB',
          'us/GB': 's/GB', 'million': '', '': ''}
ROW = re.compile(r'    (\S+) *  =  +(\S+) ?(.*)$')
# Rows that depend on how busy the machine is, and rows that qperf does not have.
SOMETIMES = re.compile(r'.*(cpus_intr|cpus_iowait|cpus_kernel|cpus_user|errors)$')
MORE = re.compile(r'latency_|lost_msgs|duplicated_msgs')


@pytest.fixture(scope='module', autouse=True)
def real():
    if not shutil.which('qperf'):
        pytest.skip('qperf is not installed')


@pytest.fixture
def words(fabperf):
    """words('real' or 'ours') → how the program is called."""
    return lambda which: ['qperf'] if which == 'real' else [str(fabperf), 'qperf']


@pytest.fixture
def serve(words, free_port):
    """serve('real') → the port of a server of that kind; ended at the end of the test."""
    started = []

    def call(which):
        port = free_port()
        started.append(subprocess.Popen([*words(which), '-lp', str(port)], stdout=subprocess.DEVNULL))
        return port

    yield call
    for process in started:
        process.terminate()
        process.wait(TIMEOUT_S)


@pytest.fixture
def client(words):
    def call(which, port, *arguments, host='127.0.0.1'):
        ended = subprocess.run([*words(which), host, '-lp', str(port), *map(str, arguments)], capture_output=True,
                               text=True, timeout=TIMEOUT_S, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout
    return call


def rows(text):
    """{test: {row: (value, unit)}} of an output."""
    found, name = {}, None
    for line in text.splitlines():
        if not line.startswith(' '):
            name = line.rstrip(':')
            found[name] = {}
        elif match := ROW.match(line):
            found[name][match[1]] = (match[2], match[3])
    return found


def shape(text):
    """An output without its figures: lines, keys, order and kinds of units."""
    for line in text.splitlines():
        match = ROW.match(line)
        if not match:
            yield line
        elif not SOMETIMES.match(match[1]) and not MORE.match(match[1]):
            unit, _, note = match[3].partition(' ')
            yield match[1], SCALES.get(unit, unit), bool(note)


@pytest.mark.parametrize('server, other', PAIRS)
def test_every_pair_completes_every_test(serve, client, server, other):
    port = serve(server)
    found = rows(client(other, port, '-t', 1, 'conf', 'tcp_bw', 'tcp_lat', 'udp_bw', 'udp_lat'))
    assert list(found) == ['conf', 'tcp_bw', 'tcp_lat', 'udp_bw', 'udp_lat']
    assert found['conf']['rem_qperf'][0].startswith('0.4.11')
    assert ('fabperf' in found['conf']['rem_qperf'][1]) == (server == 'ours')
    for name, row in (('tcp_bw', 'bw'), ('udp_bw', 'send_bw'), ('udp_bw', 'recv_bw'), ('tcp_lat', 'latency'),
                      ('udp_lat', 'latency')):
        value, unit = found[name][row]
        assert float(value.replace(',', '')) > 0
        assert SCALES[unit] == ('s' if row == 'latency' else 'B/sec')


@pytest.mark.parametrize('server, other', PAIRS)
def test_both_ends_agree_on_what_was_carried(serve, client, server, other):
    """Sums of a stream: what one end sent the other received, but for what was under way at the end."""
    found = rows(client(other, serve(server), '-t', 1, '-uu', '-vvs', '-m', 4096, 'tcp_bw', 'tcp_lat'))
    sent, received = (int(found['tcp_bw'][f'{side}_msgs'][0]) for side in ('send', 'recv'))
    assert 0 < received <= sent + 1 and sent - received < 16384 + received  # both ends' buffers
    lat = {key: int(value[0]) for key, value in found['tcp_lat'].items() if key.endswith('_msgs')}
    assert max(lat.values()) - min(lat.values()) <= 2


DISPLAY = [('-v', 'tcp_bw'), ('-vv', 'tcp_lat'), ('-uu', '-vvs', '-e', '5', 'udp_lat'), ('-ub', '-vt', 'udp_bw'),
           ('-un', '-v', '-m', '1500', 'tcp_bw'), ('-vvu', '-sb', '64K', '-ar', '1', '-rto', '4', 'tcp_bw'),
           ('-i', 'x', '-T', '4', '-vu', 'tcp_lat'), ('-oo', 'm:1:4:*2', '-vu', 'udp_lat')]


def test_the_same_options_give_the_same_lines(serve, client):
    """qperf against its own server, ours against ours, side by side."""
    ports = {which: serve(which) for which in ('real', 'ours')}

    def both(options):
        return [client(which, port, '-t', 1, *options) for which, port in ports.items()]

    for options in DISPLAY:  # one pair at a time: the real server knows only one client at a time
        theirs, own = both(options)
        assert list(shape(own)) == list(shape(theirs)), options


def test_conf_is_the_same_but_for_the_version(serve, client):
    theirs, own = (client(which, serve(which), 'conf').splitlines() for which in ('real', 'ours'))
    assert [line for line in own if 'qperf' not in line] == [line for line in theirs if 'qperf' not in line] or \
        [line.split('=')[0] for line in own] == [line.split('=')[0] for line in theirs]


def test_a_real_server_is_not_asked_for_what_it_cannot(serve, words):
    port = serve('real')
    time.sleep(0.2)
    for *options, name in (['-t', '0.5', 'tcp_lat'], ['-n', '10', 'udp_lat'], ['-f1', 'tcp_bw'],
                           ['--streams', '2', 'tcp_bw']):
        ended = subprocess.run([*words('ours'), '127.0.0.1', '-lp', str(port), *options, name],
                               capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert ended.returncode == 1
        assert f'the server is qperf 0.4.11, which cannot do that in {name}' in ended.stdout


def test_a_real_client_that_vanishes_leaves_the_server_serving(serve, client, words):
    port = serve('ours')
    with ThreadPoolExecutor(4) as pool:
        def vanish(name):
            process = subprocess.Popen(['qperf', '127.0.0.1', '-lp', str(port), '-t', '20', name],
                                       stdout=subprocess.DEVNULL)
            time.sleep(0.3)
            process.kill()
            process.wait()
        list(pool.map(vanish, ('tcp_bw', 'tcp_lat', 'udp_bw', 'udp_lat')))
    begun = time.monotonic()
    client('real', port, '-t', 1, 'tcp_lat')
    assert time.monotonic() - begun < 10
