"""'fabperf qperf' and the real qperf: each against the other's server, and the same rows for the same options."""
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from qperf_rows import KIND, ROW, shape

TIMEOUT_S = 40
PAIRS = [('real', 'real'), ('real', 'ours'), ('ours', 'real'), ('ours', 'ours')]  # server, client
TESTS = ['tcp_bw', 'tcp_lat', 'udp_bw', 'udp_lat']
# Each display option, and every other one, plain or for one side: those that a test has no use for are warned of.
OPTIONS = [[*some.split(), *TESTS] for some in (
    '-v', '-vv', '-uu -vvs -vvt -e 5', '-ub -vt -un -vc -e 0',
    '-T 4 -vs -vu -i x -ar 1 -m 1500 -sb 64K -rsb 32K -lto 6 -lca 1 -ip 0 -mt 1K -nr 2 -sl 1 -cp1 -cm1 -ap 1')]
OPTIONS += [['-oo', 'm:1:4:*2', '-vvu', '-vvc', 'udp_lat']]


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
    """serve('real', *words before it) → the port of a server of that kind; ended at the end of the test."""
    started = []

    def call(which, *before):
        port = free_port()
        started.append(subprocess.Popen([*before, *words(which), '-lp', str(port)], stdout=subprocess.DEVNULL))
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


def in_pool(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(*call) for call in calls]]


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


def test_every_pair_completes_every_test(serve, client):
    """What one end sent the other received, but for what was under way at the end and what UDP lost."""
    def pair(server, other):
        found = rows(client(other, serve(server), '-t', 1, '-uu', '-vvs', 'conf', *TESTS))
        assert list(found) == ['conf', *TESTS]
        assert ('fabperf' in found['conf']['rem_qperf'][1]) == (server == 'ours')
        assert found['conf']['rem_qperf'][0].startswith('0.4.11')
        for name, row in (('tcp_bw', 'bw'), ('udp_bw', 'send_bw'), ('udp_bw', 'recv_bw'), ('tcp_lat', 'latency'),
                          ('udp_lat', 'latency')):
            value, unit = found[name][row]
            assert float(value) > 0 and KIND[unit] == ('time' if row == 'latency' else 'bytes a second')
        for name in TESTS:
            counts = {key: int(value[0]) for key, value in found[name].items() if key.endswith('_msgs')}
            if name.endswith('lat'):
                assert max(counts.values()) - min(counts.values()) <= 2
            else:
                assert 0 < counts['recv_msgs'] <= counts['send_msgs'] + 1

    in_pool([(pair, *some) for some in PAIRS])


def test_the_same_options_give_the_same_lines(serve, client):
    """qperf against its own server, ours against ours: warnings, rows, their order, units and precision."""
    def lines(which, options):
        return list(shape(client(which, serve(which), '-t', 1 if which == 'real' else 0.2, *options)))

    theirs, own = (in_pool([(lines, which, options) for options in OPTIONS]) for which in ('real', 'ours'))
    for options, expected, found in zip(OPTIONS, theirs, own):
        assert found == expected, options


# --- a server that says what it is told to: both clients must print the same text ---

def exactly(connection, count):
    data = b''
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def results(size, count, errors):
    """The server's statistics: one second of a hundred ticks."""
    end = [1100, 10, 0, 10, 7, 0, 0, 30, 0]
    counts = [0, 0, 0, size, count, errors, *[0] * 6]
    return struct.pack('<3I9Q9Q12Q', 2, 100, 17, 1000, *[0] * 8, *end, *counts) + bytes(4)


@pytest.fixture
def says():
    """says(data) → the port of a server that answers each udp_bw with it."""
    listening = []

    def serve_one(connection, data):
        with connection, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            exactly(connection, 200)
            datagrams.bind(('127.0.0.1', 0))
            connection.sendall(struct.pack('<I', datagrams.getsockname()[1]) + b'synchronization before test')
            exactly(connection, 27)
            connection.sendall(data)
            exactly(connection, 26)

    def accept(listener, data):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve_one, args=(connection, data), daemon=True).start()

    def call(data):
        listening.append(socket.create_server(('127.0.0.1', 0)))
        threading.Thread(target=accept, args=(listening[-1], data), daemon=True).start()
        return listening[-1].getsockname()[1]

    yield call
    for listener in listening:
        listener.close()


def test_numbers_are_the_same_text(says, client):
    """Scales, rounding that carries, binary sizes, large counts: whatever a server says, in each form."""
    values = [(1, 1, 0), (999, 999, 0), (1000, 1000, 5), (999600, 999999, 0), (1536, 10 ** 6, 0), (3072, 1234567, 0),
              (65536, 2 * 10 ** 9, 0), (9994000000, 10 ** 7, 12), (1500 * 10 ** 12, 84569, 0)]
    forms = [['-vv', '-m', '1'], ['-uu', '-vvs', '-m', '1'], ['-e', '1', '-ub', '-vt'], ['-e', '6', '-vs', '-m', '1']]

    def texts(value, form):
        port = says(results(*value))
        pair = in_pool([(client, which, port, '-t', 1, *form, 'udp_bw') for which in ('real', 'ours')])
        return [[line.split() for line in text.splitlines() if re.match(r'    (recv|rem)_', line)] for text in pair]

    cases = [(value, forms[(number + turn) % len(forms)]) for turn in (0, 1) for number, value in enumerate(values)]
    with ThreadPoolExecutor(6) as pool:
        for case, (theirs, own) in zip(cases, pool.map(lambda case: texts(*case), cases)):
            assert own == theirs and theirs, case


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


def test_figures_agree(words, serve):
    """Four pairs at once on one core, so that all have the same; the best of as many runs as it takes."""
    place = ['taskset', '-c', str(min(os.sched_getaffinity(0)))]
    ports = {pair: serve(pair[0], *place) for pair in PAIRS}

    def figure(pair, name):
        ended = subprocess.run([*place, *words(pair[1]), '127.0.0.1', '-lp', str(ports[pair]), '-t', '1', '-uu',
                                name], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        found = rows(ended.stdout)[name]
        return float(next(found[row] for row in ('recv_bw', 'bw', 'latency') if row in found)[0])

    for name in TESTS:
        less, best = name.endswith('lat'), {}
        for _ in range(10):
            found = dict(zip(PAIRS, in_pool([(figure, pair, name) for pair in PAIRS])))
            best = {pair: (min if less else max)(value, best.get(pair, value)) for pair, value in found.items()}
            faster = {pair: (value / best[PAIRS[0]]) ** (-1 if less else 1) for pair, value in best.items()}
            if all(1 / 2 < ratio < 3 for ratio in faster.values()):
                break
        assert all(1 / 2 < ratio < 3 for ratio in faster.values()), (name, best)
