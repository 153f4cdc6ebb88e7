"""'fabperf qperf' by itself: words, refusals, counts, loss, and a server that nothing of a client can stop."""
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from processes import SCALE

pytestmark = pytest.mark.waits
TIMEOUT_S = 30 * SCALE


@pytest.fixture
def serve(start, free_port):
    """serve() → the port of a server that listens, and its process."""
    def call():
        port = free_port()
        process = start('qperf', '-lp', str(port), '-lto', '2')
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                socket.create_connection(('127.0.0.1', port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        return port, process
    return call


@pytest.fixture
def server(serve):
    return serve()


@pytest.fixture
def qperf(run, server):
    def call(*words, host='127.0.0.1'):
        return run('qperf', host, '-lp', str(server[0]), *map(str, words), timeout=TIMEOUT_S)
    return call


def rows(text):
    return {match[1]: match[2].replace(',', '') for match in re.finditer(r'^    (\S+) *  =  +(\S+)', text, re.M)}


# --- the command line ---

@pytest.mark.parametrize('words, sentence', [
    (['h'], 'must specify a test type; try: qperf --help'), (['tcp_bw'], 'must specify host name first'),
    (['-m', '1'], 'you used a client-only option'), (['h', '--bogus', 'tcp_lat'], '--bogus: bad option'),
    (['h', 'x'], 'x: bad test; try: qperf --help tests'), (['h', 'tcp_lat', 'y'], 'y: bad test'),
    (['h', 'tcp_lat', '-t'], 'missing argument to -t'), (['h', '-t', '1x', 'tcp_lat'], 'bad argument: 1x'),
    (['h', '-t', '0', 'tcp_lat'], 'bad argument: 0: more than 0'),
    (['h', '-m', '64KB', 'tcp_bw'], '-m: bad size: 64KB'),
    (['h', '-m', '4G', 'tcp_bw'], '-m: bad size: 4G: less than 4 GiB'),
    (['h', '-m', '0', 'tcp_bw'], 'bad argument: 0'), (['h', '-m', 'K', 'tcp_bw'], '-m: bad size: K'),
    (['h', '-e', '-1', 'tcp_lat'], '-e requires a non-negative number'),
    (['h', '-sl', '16', 'rc_lat'], 'service level must be between 0 and 15: 16 given'),
    (['h', '-ip', '70000', 'tcp_bw'], 'bad argument: 70000: a port is at most 65535'),
    (['h', '-oo', 'foo:1:4:1', 'tcp_lat'], '-oo: foo: no such variable'),
    (['h', '-oo', 'msg_size:1:4', 'tcp_lat'], '-oo: msg_size:1:4: a loop is Var:Init:Last:Incr'),
    (['h', '-oo', 'msg_size:1:4:', 'tcp_lat'], 'a loop is Var:Init:Last:Incr'),
    (['h', '-oo', 'm:1:4:*1', 'tcp_lat'], 'a factor must be more than 1'),
    (['h', '-oo', 'm:0:4:*2', 'tcp_lat'], 'must not begin at 0'),
    (['h', '-oo', 'm:1:4:0', 'tcp_lat'], 'must be positive'),
    (['h', '-oo', 'm:8:4:1', 'tcp_lat'], 'a loop from 8 to 4 has no value'),
    (['h', '-oo', 'm:0:4:1', 'tcp_lat'], 'bad argument: 0: a message has at least a byte'),
    (['h', '-oo', 't:0:1:1', 'tcp_lat'], 'bad argument: 0: more than 0'),
    (['h', '-oo', 'sl:4:16:*2', 'rc_lat'], 'service level must be between 0 and 15: 16 given'),
    (['h', '-oo', 'ip:1:70000:69998', 'tcp_bw'], 'bad argument: 69999: a port is at most 65535'),
    (['h', '-t', '-1', 'tcp_lat'], '-t requires a non-negative number'), (['-'], '-: bad option'),
    (['h', 'tcp_lat', '-vu'], '-vu stands behind the last test and would have no effect'),
    (['h', '--streams', '65', 'tcp_bw'], 'bad argument: 65: 1 to 64 streams'),
    (['h', '--streams', '2', 'tcp_lat'], '--streams: tcp_lat has one: several have tcp_bw, udp_bw,'),
    (['h', '-oo', 'streams:1:65:1', 'tcp_bw'], '-oo streams: at most 64'),
    (['h', '-n', '5', '--streams', '2', 'udp_bw'], '--streams and -n exclude each other'),
    (['--help', 'foo'], 'cannot find help category foo; try: qperf --help categories'),
])
def test_what_is_wrong_is_said_before_anything_runs(run, words, sentence):
    result = run('qperf', *words, timeout=5 * SCALE)
    assert result.rc == 1 and not result.stderr
    assert sentence in result.stdout and result.stdout.count('\n') <= 2


def test_every_topic_that_the_help_names(run):
    topics = re.findall(r'^    (\w+)', run('qperf', '--help', 'categories').stdout, re.M)
    tests = re.findall(r'^    (\w+)', run('qperf', '--help', 'tests').stdout, re.M)
    assert len(tests) == 36 and len(topics) == 36 + 5 and set(tests) < set(topics)
    for topic in [*topics, 'main']:
        result = run('qperf', '--help', topic)
        assert result.rc == 0 and result.stdout and max(map(len, result.stdout.splitlines())) <= 100
    assert run('qperf', '--help').stdout == result.stdout


def test_the_name_of_a_link(fabperf, tmp_path):
    (tmp_path / 'qperf').symlink_to(fabperf)
    ended = subprocess.run([tmp_path / 'qperf', '-V'], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert ended.stdout.startswith('qperf 0.4.11') and ended.returncode == 0


def test_old_spellings_and_unused_options(qperf):
    result = qperf('-T', 4, '-i', 'x', '-t', 0.1, 'tcp_lat')
    assert result.stdout.splitlines()[:3] == [
        'warning: obsolete option: -T; use -to instead', 'tcp_lat:', 'warning: -i set but not used in test tcp_lat']


# --- counts ---

@pytest.mark.parametrize('test', ['tcp_bw', 'tcp_lat', 'udp_lat'])
@pytest.mark.parametrize('flip', [(), ('-f1',)])
def test_by_count_every_message_is_counted(qperf, test, flip):
    result = qperf('-n', 300, '-m', 700, '-uu', '-vvs', *flip, test)
    assert result.rc == 0, result.stdout
    counts = {key: int(value) for key, value in rows(result.stdout).items() if key.endswith('_msgs')}
    assert counts and set(counts.values()) == {300}, result.stdout


def test_what_is_lost_is_told(qperf):
    """Far more than a small buffer holds: sent = received + lost, to the datagram."""
    found = rows(qperf('-n', 3000, '-m', 8000, '-sb', '4K', '-uu', '-vvs', 'udp_bw').stdout)
    assert int(found['send_msgs']) == 3000
    assert int(found['recv_msgs']) + int(found.get('lost_msgs', 0)) == 3000


@pytest.mark.parametrize('words, sentence', [
    (['-m', '2G', 'tcp_bw'], '-m 2147483648: a message of tcp_bw has 1 to 1073741824 bytes'),
    (['-m', '65508', 'udp_lat'], '-m 65508: a message of udp_lat has 1 to 65507 bytes'),
    (['-lca', '1000', 'tcp_lat'], 'cannot set processor affinity (cpu 1000)')])
def test_what_a_test_cannot_do_is_said(qperf, words, sentence):
    result = qperf(*words)
    assert result.rc == 1 and sentence in result.stdout + result.stderr


def test_an_error_at_the_server_is_told_each_time(qperf):
    for _ in range(10):
        result = qperf('-rca', 1000, 'tcp_lat')
        assert result.rc == 1 and 'server: cannot set processor affinity (cpu 1000)' in result.stderr


def test_processors_are_numbered_from_0(qperf):
    found = rows(qperf('-lca', 0, '-rca', 'any', '-n', 9, '-vvu', 'tcp_lat').stdout)
    assert found['loc_affinity'] == '0' and 'rem_affinity' not in found


def test_a_loop_over_processors_begins_at_0(qperf):
    found = qperf('-oo', 'lca:0:0:1', '-n', 9, '-vvu', 'tcp_lat').stdout
    assert rows(found)['loc_affinity'] == '0'


def test_any_processor_after_one(start, server):
    allowed = sorted(os.sched_getaffinity(0))
    client = start('qperf', '127.0.0.1', '-lp', str(server[0]), '-t', '0.1', '-lca', str(allowed[0]), 'tcp_lat',
                   '-lca', 'any', '-t', '60', 'tcp_lat')
    client.until(r'latency[^:]+tcp_lat:')
    deadline = time.monotonic() + TIMEOUT_S
    while sorted(os.sched_getaffinity(client.pid)) != allowed and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sorted(os.sched_getaffinity(client.pid)) == allowed


def test_a_message_that_the_end_cuts_off_counts_by_its_bytes(qperf):
    found = rows(qperf('-m', '256M', '-t', 0.05, '-uu', '-vvs', 'tcp_bw').stdout)
    assert float(found['bw']) > 0 and float(found['send_bytes']) >= float(found['recv_bytes'])


def answer_pings(listener, answers):
    """A server of ours for one udp_lat: answers(n) → how often the n-th datagram is answered."""
    connection, _ = listener.accept()
    with connection, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        connection.recv(200, socket.MSG_WAITALL)
        datagrams.bind(('127.0.0.1', 0))
        connection.sendall(struct.pack('<I', datagrams.getsockname()[1] | 0x46410000) + b'synchronization before test')
        connection.recv(27, socket.MSG_WAITALL)
        datagrams.settimeout(0.3)
        count = 0
        try:
            while True:
                data, address = datagrams.recvfrom(2048)
                for _ in range(answers(count)):
                    datagrams.sendto(data, address)
                count += 1
        except TimeoutError:
            pass
        end = [1000000 + 500000, *[0] * 8]
        connection.sendall(struct.pack('<3I9Q9Q12QI', 1, 1000000, 0, 1000000, *[0] * 8, *end, count, count, 0, count,
                                       count, 0, *[0] * 6, 0))
        connection.recv(26, socket.MSG_WAITALL)


def test_neither_lost_nor_doubled_answers_spoil_udp_lat(run):
    """The first, the tenth and the hundredth are lost, every third comes twice: three samples less, none too many."""
    with socket.create_server(('127.0.0.1', 0)) as listener, ThreadPoolExecutor(1) as pool:
        pool.submit(answer_pings, listener, lambda n: 0 if n in (0, 9, 99) else 1 + (n % 3 == 0))
        result = run('qperf', '127.0.0.1', '-lp', str(listener.getsockname()[1]), '-m', '8', '-t', '1', '-uu', '-vvs',
                     'udp_lat', timeout=TIMEOUT_S)
    found = rows(result.stdout)
    lost = int(found['lost_msgs'])  # on a busy machine an answer that takes a tenth of a second is one more
    assert result.rc == 0 and lost >= 3, result.stdout
    assert lost <= int(found['loc_send_msgs']) - int(found['loc_recv_msgs']) <= lost + 1
    assert float(found['latency']) < 40e6  # as one of the lost ones would make it


def serve_some_steps(listener, steps, leaves):
    """An old server of one udp_lat that hangs, or goes, after so many steps."""
    connection, _ = listener.accept()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(('127.0.0.1', 0))
        connection.recv(200, socket.MSG_WAITALL)
        if steps > 0:
            connection.sendall(struct.pack('<I', datagrams.getsockname()[1]))
        if steps > 1:
            connection.sendall(b'synchronization before test')
        if steps > 2:
            connection.sendall(bytes(100))
        if not leaves:
            connection.recv(1 << 16, socket.MSG_WAITALL)  # until the client has gone
        connection.close()


@pytest.mark.parametrize('leaves', [False, True])
def test_no_old_server_hangs_us(run, leaves):
    def call(steps):
        with socket.create_server(('127.0.0.1', 0)) as listener, ThreadPoolExecutor(1) as pool:
            pool.submit(serve_some_steps, listener, steps, leaves)
            return run('qperf', '127.0.0.1', '-lp', str(listener.getsockname()[1]), '-to', '1', '-t', '1', 'udp_lat',
                       timeout=TIMEOUT_S)

    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(call, range(4)):
            assert result.rc == 1 and ('not responding' if leaves else 'timed out') in result.stdout, result


def test_time_with_a_fraction(qperf):
    found = rows(qperf('-t', '0.3', '-uu', '-e', '4', '-vvt', 'tcp_lat').stdout)
    assert 200e6 <= float(found['loc_real_time']) <= 400e6 * SCALE


def test_json(qperf):
    result = qperf('--json', '-t', '0.2', 'tcp_lat', 'udp_bw')
    latency, stream = map(json.loads, result.stdout.splitlines())
    lat = latency['latency']
    assert lat['halved'] and lat['minUsec'] <= lat['p50Usec'] <= lat['p99Usec'] <= lat['maxUsec']
    assert stream['latency'] is None and stream['remote']['received']['messages'] > 0


def test_several_streams_are_one_figure(qperf):
    """Each has a port of its own: the third one's is taken by somebody else at last."""
    result = qperf('--json', '--streams', 3, '-t', 0.3, 'tcp_bw', 'udp_bw', '-f1', 'tcp_bw', 'udp_bw')
    assert result.rc == 0, result.stdout
    for line in map(json.loads, result.stdout.splitlines()):
        sender, receiver = line['local'], line['remote']
        if sender['received']['bytes']:
            sender, receiver = receiver, sender
        lost = receiver['lost'] or 0
        assert 0 < receiver['received']['messages'] <= sender['sent']['messages'] - lost, line
        assert receiver['received']['bytes'] <= sender['sent']['bytes'], line
        assert line['streams'] == 3
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(('::', 0))
        taken.listen()
        last = taken.getsockname()[1]
        result = qperf('--streams', 3, '-ip', last - 2, 'tcp_bw')
    assert result.rc == 1
    assert last - 2 <= int(re.search(r'unable to bind to data port (\d+)', result.stderr)[1]) <= last


def test_loops_nest_and_show_their_values(qperf):
    result = qperf('-oo', 'msg_size:1:64K:*16', '-oo', 'sock_buf_size:32K:64K:32K', '-t', '0.05', '-vu', 'tcp_bw')
    sizes = re.findall(r'^    msg_size +=  +(\S+) (\S+)', result.stdout, re.M)
    assert sizes[::2] == [('1', 'bytes'), ('16', 'bytes'), ('256', 'bytes'), ('4', 'KiB'), ('64', 'KiB')]
    assert result.stdout.count('tcp_bw:') == 10


@pytest.mark.parametrize('host', ['::1', '[::1]', 'localhost'])
def test_addresses(qperf, host):
    assert qperf('-t', 0.1, 'tcp_lat', 'udp_lat', host=host).rc == 0


# --- what a kernel lacks ---

def test_what_cannot_be_had_is_named(qperf):
    result = qperf('-t', 0.1, 'sdp_bw')
    assert result.rc == 1 and 'this kernel has no AF_INET_SDP' in result.stdout + result.stderr


# --- the server ---

def request(test, timeout=2, size=1):
    numbers = [0, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, 0, 0, 1, timeout, 0]
    return struct.pack('<4H16I', 0, 4, 11, test, *numbers) + bytes(128)


def test_fifty_in_a_row_and_eight_at_once(qperf, server):
    for _ in range(50):
        assert qperf('-n', 5, 'tcp_lat').rc == 0
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda test: qperf('-t', 0.5, test), ['tcp_lat', 'udp_lat', 'tcp_bw', 'udp_bw'] * 2))
    assert [result.rc for result in ended] == [0] * 8


def test_whatever_a_client_does_the_next_one_is_served(qperf, server):
    """Each way to be a bad client, left open while the next one runs."""
    port, process = server
    bad = [b'', b'G', b'GET / HTTP/1.1\r\n\r\n' * 20, bytes(200), b'\xff' * 200, request(9)[:100], request(9),
           request(99), request(8, size=1 << 31), request(11)]
    opened = []
    for data in bad:
        connection = socket.create_connection(('127.0.0.1', port), 5)
        connection.sendall(data)
        opened.append(connection)
        assert qperf('-n', 3, 'tcp_lat').rc == 0
    for connection in opened:
        connection.close()
    assert qperf('-n', 3, 'udp_lat').rc == 0
    memory = int(re.search(r'VmRSS:\s+(\d+)', open(f'/proc/{process.pid}/status').read())[1])
    assert memory < 64 * 1024


def leave_after(port, steps):
    """A client of tcp_lat that takes so many steps: its connections."""
    control = socket.create_connection(('127.0.0.1', port), 5)
    opened = [control]
    if 0 < steps < 4:
        control.sendall(request(9, timeout=1)[:[0, 3, 6, 100][steps]])
    if steps > 3:
        control.sendall(request(9, timeout=1))
    if steps > 4:
        number, = struct.unpack('<I', control.recv(4, socket.MSG_WAITALL))
        opened.append(socket.create_connection(('127.0.0.1', number & 0xffff), 5))
    if steps > 5:
        control.sendall(b'synchronization before test')
    if steps > 6:
        opened[1].sendall(b'x')
        opened[1].recv(1)
    return opened


def children(process):
    return subprocess.run(['pgrep', '-P', str(process.pid)], capture_output=True, text=True, check=False).stdout.split()


def test_a_client_that_ends_or_hangs_at_any_point(qperf, server):
    """Cut off, or left half open: the next one is served at once, and in the end nothing of them is left."""
    port, process = server

    def memory():
        return int(re.search(r'VmRSS:\s+(\d+)', open(f'/proc/{process.pid}/status').read())[1])

    before = memory()
    hanging = []
    for steps in range(8):
        hanging += leave_after(port, steps)
        for connection in leave_after(port, steps):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            connection.close()
    assert qperf('-n', 3, 'tcp_lat').rc == 0
    deadline = time.monotonic() + TIMEOUT_S
    while children(process) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not children(process) and memory() <= before + 512
    assert qperf('-n', 3, 'udp_lat').rc == 0
    for connection in hanging:
        connection.close()


def test_a_conf_leaks_nothing(server):
    connection = socket.create_connection(('127.0.0.1', server[0]), 5)
    connection.sendall(request(0))
    data = b''
    while piece := connection.recv(256):
        data += piece
    assert len(data) == 256
    for field in range(4):
        text = data[64 * field:64 * field + 64]
        assert not text[text.index(b'\0'):].strip(b'\0')


def test_an_old_client_is_told_to_upgrade(server):
    connection = socket.create_connection(('127.0.0.1', server[0]), 5)
    connection.sendall(struct.pack('<3H', 0, 3, 0) + bytes(194))
    assert b'upgrade qperf on client from 0.3.0 to 0.4.11' in connection.recv(512)


def test_a_vanished_client_ends_its_test(fabperf, qperf, server):
    """What it had measured was printed before the next test began."""
    words = [fabperf, 'qperf', '127.0.0.1', '-lp', str(server[0]), '-t', '0.1', 'tcp_lat', '-t', '60', 'udp_bw']
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
        assert [client.stdout.readline().split()[0] for _ in range(3)] == ['tcp_lat:', 'latency', 'udp_bw:']
        client.kill()
    assert qperf('-n', 3, 'tcp_lat').rc == 0


def slept(pid):
    return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', open(f'/proc/{pid}/status').read(), re.M)[1])


def test_a_vanished_server_is_named(server, start):
    client = start('qperf', '127.0.0.1', '-lp', str(server[0]), '-t', '60', 'tcp_lat')
    deadline = time.monotonic() + TIMEOUT_S
    while slept(client.pid) < 100 and time.monotonic() < deadline:  # for answers: its test runs
        time.sleep(0.02)
    os.kill(server[1].pid, signal.SIGKILL)
    ended = client.wait(10 * SCALE)
    assert ended.rc == 1 and 'server not responding' in ended.stdout


def test_quit_and_sigterm_end_it(qperf, server, serve):
    assert qperf('quit').rc == 0
    ended = server[1].wait(TIMEOUT_S)
    assert ended.rc == 0 and not ended.stdout + ended.stderr  # nor does it mind who only knocked
    _, other = serve()
    os.kill(other.pid, signal.SIGTERM)
    assert other.wait(TIMEOUT_S).rc == 0
