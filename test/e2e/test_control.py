"""The control connection of the real executable: whatever happens to it, both sides end in time with one sentence."""
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest

from processes import SCALE

pytestmark = pytest.mark.waits

QUICK = ('-r', 'null', '-D', '0.2', '-w', '0')
LONG = ('-r', 'null', '-D', '30', '-w', '0')
MAGIC, HELLO, WELCOME, BUSY, REFUSED = 0x50424146, 1, 2, 3, 4  # docs/internals/control.md


def frame(kind, payload=b'', magic=MAGIC, reserved=0, length=None):
    return struct.pack('<IHHI', magic, kind, reserved, len(payload) if length is None else length) + payload


def text(words):
    return struct.pack('<H', len(words)) + words.encode()


def hello(protocol=2, version='0.0', host='byhand'):
    return b'FABPERF\0' + struct.pack('<I', protocol) + text(version) + text(host) + text('')


def read_frame(connection):
    """→ (type, payload), or None when the other side closes instead."""
    def exactly(count):
        data = b''
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data
    try:
        _, kind, _, length = struct.unpack('<IHHI', exactly(12))
        return kind, exactly(length)
    except (EOFError, ConnectionResetError):
        return None


def connect(port):
    connection = socket.create_connection(('127.0.0.1', port), timeout=10 * SCALE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def closed_by_server(connection, within=8):
    """Whether the server closes the connection in time."""
    connection.settimeout(within * SCALE)
    try:
        while connection.recv(4096):
            continue
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def sentence(result, *parts):
    """The run failed with one line on stderr that has all the parts in it."""
    lines = result.stderr.strip().splitlines()
    assert result.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), result
    for part in parts:
        assert part in lines[0], result
    return lines[0]


@pytest.fixture
def server(start, free_port):
    """server(*options) → (Process, port) of a server that listens."""
    def call(*options):
        port = free_port()
        process = start('--port', port, *options)
        process.until('waiting for clients on port', 'stderr')
        return process, port
    return call


@pytest.fixture
def client(run):
    """client(port, *options) → Result of a client that uses the server on that port and never starts one."""
    def call(port, *options, host='localhost', timeout=60):
        return run('-n', host, '--port', port, '--launch_server', 'off', *(options or QUICK), timeout=timeout)
    return call


def children(pid):
    return [int(word) for word in Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


def serving_child(process):
    """The server's child that serves a client, once there is one."""
    deadline = time.monotonic() + 5 * SCALE
    while not (found := children(process.pid)):
        assert time.monotonic() < deadline, 'no client is being served'
        time.sleep(0.02)
    return found[0]


def started_traffic(process):
    """The client's test runs: it has told so by a live line."""
    process.until(r'\d', 'stderr')


# --- what a server survives ---

def test_random_bytes_do_not_end_the_server(server, client):
    process, port = server()
    chance = random.Random(20)
    for _ in range(40):
        with connect(port) as connection:
            connection.sendall(chance.randbytes(chance.choice((1, 11, 12, 13, 100, 5000))))
    assert client(port).rc == 0
    assert process.stop().rc == 0


@pytest.mark.parametrize('data', [
    b'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    frame(HELLO, length=0xffffffff),
    frame(HELLO, hello()[:-1]),
    frame(HELLO, hello() + b'\0'),
    frame(HELLO, hello(), magic=1),
    frame(HELLO, hello(), reserved=1),
    frame(HELLO, b'x' * 1024),
    frame(5, b'a broadcast before the hello'),
    frame(99),
    frame(HELLO, hello(host='h' * 400)),
])
def test_a_wrong_hello_is_answered_by_the_end(server, client, data):
    process, port = server()
    with connect(port) as connection:
        connection.sendall(data)
        assert closed_by_server(connection, within=3)
    assert client(port).rc == 0
    assert process.running()


@pytest.mark.parametrize('data', [
    frame(5, length=0xffffffff),
    frame(5, length=(16 << 20) + 1) + b'x' * 100,
    frame(99, b'what?'),
    b'no frame at all, but long enough',
    frame(10, b'\7' * 24),
    frame(8, b'a malformed note'),
    frame(5, b'no test at all'),
    frame(5) * 300,
])
def test_a_hostile_client_is_cut_off(server, client, data):
    """What it sends in the place of the test, after it was welcomed."""
    process, port = server()
    with connect(port) as connection:
        connection.sendall(frame(HELLO, hello()))
        assert read_frame(connection)[0] == WELCOME
        try:
            connection.sendall(data)
        except ConnectionError:
            pass
        assert closed_by_server(connection)
    assert client(port).rc == 0
    assert process.running()


def test_clients_that_say_nothing_make_nobody_wait(server, client):
    process, port = server()
    idle = [connect(port) for _ in range(10)]
    begin = time.monotonic()
    assert client(port).rc == 0
    assert time.monotonic() - begin < 3 * SCALE
    assert all(closed_by_server(connection) for connection in idle)
    assert process.running()


def test_more_connections_than_it_takes(server, client):
    process, port = server()
    idle = [connect(port) for _ in range(20)]
    assert client(port).rc == 0
    for connection in idle:
        connection.close()
    assert process.stop().rc == 0


def test_half_a_hello_then_silence(server):
    _, port = server()
    with connect(port) as connection:
        connection.sendall(frame(HELLO, hello())[:20])
        assert closed_by_server(connection, within=8)


# --- versions, turns ---

def test_another_version_is_told_what_to_do(server):
    process, port = server()
    with connect(port) as connection:
        connection.sendall(frame(HELLO, hello(protocol=77, version='7.7.7', host='far')))
        kind, payload = read_frame(connection)
    assert kind == REFUSED and payload[:8] == b'FABPERF\0'
    for part in (b"fabperf 7.7.7 on host 'far' speaks control protocol 77", b'install the same version'):
        assert part in payload
    process.until('control protocol 77', 'stderr')


def test_a_client_in_turn_is_told_and_waits(server, client, start):
    process, port = server()
    first = start('-n', 'localhost', '--port', port, '-r', 'null', '-D', '2', '-w', '0')
    serving_child(process)
    with connect(port) as connection:
        connection.sendall(frame(HELLO, hello()))
        kind, payload = read_frame(connection)
    assert kind == BUSY and b'it has been serving host' in payload
    line = sentence(client(port, *QUICK, '--connect_timeout', '0.5'), "host 'localhost' is busy")
    assert re.search(r"serving host '.+' for \d+ s", line)
    assert client(port).rc == 0  # waits for its turn
    assert first.wait().rc == 0


def test_once_means_one_that_was_served(server, client):
    process, port = server('--once')
    with connect(port) as connection:
        connection.sendall(b'garbage that is longer than a header')
        assert closed_by_server(connection)
    assert process.running()
    assert client(port).rc == 0
    assert process.wait(5).rc == 0


# --- ends ---

@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_server(server, number):
    process, _ = server()
    begin = time.monotonic()
    assert process.stop(number).rc == 0
    assert time.monotonic() - begin < 2 * SCALE


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_an_ended_server_is_named_by_its_client(server, start, number):
    process, port = server()
    running = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(running)
    begin = time.monotonic()
    process.send(number)
    result = running.wait(10)
    assert time.monotonic() - begin < 6 * SCALE
    assert result.rc == (130 if number == signal.SIGTERM else 1)
    assert 'localhost' in (result.stdout if number == signal.SIGTERM else result.stderr), result
    process.wait(10)


def test_a_stopped_server_is_named_by_its_client(server, start):
    process, port = server()
    running = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(running)
    stopped = serving_child(process)
    begin = time.monotonic()
    os.kill(stopped, signal.SIGSTOP)
    result = running.wait(12)
    assert time.monotonic() - begin < 5 * SCALE
    os.kill(stopped, signal.SIGCONT)
    assert result.rc == 1 and "host 'localhost' has been silent for" in result.stderr


def test_ctrl_c_at_the_servers_terminal_ends_the_test_in_order(server, start):
    """It reaches the whole process group at once: the client still gets what was measured."""
    process, port = server()
    running = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(running)
    os.killpg(process.pid, signal.SIGINT)
    result = running.wait(10)
    assert result.rc == 130 and 'BW' in result.stdout, result
    assert process.wait(10).rc == 0


def test_a_second_signal_ends_the_server_at_once(server, start):
    process, port = server()
    running = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(running)
    os.kill(serving_child(process), signal.SIGSTOP)  # it cannot end in order
    begin = time.monotonic()
    process.send(signal.SIGTERM)
    time.sleep(0.3)  # else the two are one to the kernel
    process.send(signal.SIGTERM)
    assert process.wait(10).rc == 0
    assert time.monotonic() - begin < 2 * SCALE
    assert running.wait(10).rc == 1


@pytest.mark.parametrize('which', ['parent', 'child', 'both'])
def test_a_stopped_server_that_the_client_started(start, which):
    """It is named within 5 s, and nothing is left of it; a parent that is stopped is missed at the end only."""
    running = start('-n', 'localhost', '-r', 'null', '-D', '1' if which == 'parent' else '30', '-w', '0', '-R', '0.2')
    started_traffic(running)
    [parent] = children(running.pid)
    [child] = children(parent)
    begin = time.monotonic()
    for pid in {'parent': [parent], 'child': [child], 'both': [parent, child]}[which]:
        os.kill(pid, signal.SIGSTOP)
    result = running.wait(12)  # fails when a process is left
    assert time.monotonic() - begin < 5 * SCALE
    if which == 'parent':
        assert result.rc == 0, result
    else:
        lines = result.stderr.strip().splitlines()
        assert result.rc == 1 and "fabperf: host 'localhost' has been silent for" in lines[-1], result


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_client_frees_its_server(server, client, start, number):
    process, port = server()
    lost = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(lost)
    lost.send(number)
    assert client(port, *QUICK, '--connect_timeout', '20').rc == 0
    lost.send(signal.SIGKILL)
    lost.wait()
    assert process.stop().rc == 0


# --- a server that a client started ---

READY = re.compile(rb'fabperf-ready 2 (\S+) (\d+) (\S+)\n')


def launched(fabperf, env=None):
    command = [fabperf, '--launched', '--once', '--port=0', '--bind=127.0.0.1']
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    ready = select.select([process.stdout], [], [], 10 * SCALE)[0]
    line = process.stdout.readline() if ready else b''
    match = READY.fullmatch(line)
    assert match, line
    return process, match


def test_a_launched_server_says_where_it_listens(fabperf, client):
    env = {**os.environ, 'SSH_CONNECTION': '192.0.2.9 50000 192.0.2.10 22'}
    process, ready = launched(fabperf, env)
    assert ready[3] == b'192.0.2.10'
    assert client(int(ready[2]), host='127.0.0.1').rc == 0
    assert process.wait(5 * SCALE) == 0  # --once
    process.communicate()


def test_a_launched_server_ends_with_its_stdin(fabperf):
    process, ready = launched(fabperf)
    assert ready[3] == b'-'
    with connect(int(ready[2])) as connection:
        connection.sendall(frame(HELLO, hello()))
        assert read_frame(connection)[0] == WELCOME
        process.stdin.close()
        assert process.wait(5 * SCALE) == 0
        assert closed_by_server(connection, within=2)
    process.stdout.close()
    process.stderr.close()


def test_nothing_is_left_of_a_killed_client(start):
    running = start('-n', 'localhost', *LONG, '-R', '0.2')
    started_traffic(running)
    running.send(signal.SIGKILL)
    assert running.wait(10).rc == -signal.SIGKILL  # wait() fails when a process is left


# --- what a client finds instead of a server ---

@pytest.fixture
def other(free_port):
    """other(answer) → port at which something listens that answers each connection with these bytes, None: silence."""
    listeners, held = [], []

    def call(answer):
        listener = socket.create_server(('127.0.0.1', 0))
        listeners.append(listener)

        def loop():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                held.append(connection)
                if answer:
                    connection.sendall(answer)
        threading.Thread(target=loop, daemon=True).start()
        return listener.getsockname()[1]
    yield call
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for connection in held:
        connection.close()


@pytest.mark.parametrize('answer, words', [
    (b'220 mail.example ESMTP\r\n', 'is not a fabperf server'),
    (b'SSH-2.0-OpenSSH_9.2\r\n', 'is not a fabperf server'),
    (frame(WELCOME, hello(protocol=9, version='9.1')), "fabperf 9.1 on host '127.0.0.1' speaks control protocol 9"),
    (frame(REFUSED, hello()), 'refused us'),
    (frame(WELCOME, length=5000), 'is not a fabperf server'),
    (None, "did not answer fabperf's hello in time"),
])
def test_what_listens_is_no_server_of_ours(other, client, answer, words):
    result = client(other(answer), *QUICK, '--connect_timeout', '2', host='127.0.0.1')
    sentence(result, words, '127.0.0.1')


def test_nothing_listens(client, free_port):
    port = free_port()
    sentence(client(port), f"nothing listens on port {port} of host 'localhost'", 'start fabperf there')


def test_an_unknown_name(client, free_port):
    sentence(client(free_port(), host='no-such-host.invalid'), "cannot resolve host 'no-such-host.invalid'")


def test_a_host_that_would_be_an_option(run):
    sentence(run('--host=-oProxyCommand=touch /nowhere', *QUICK), '-oProxyCommand=touch /nowhere')


# --- Ctrl-C on the way ---

def interrupted(process, text='interrupted'):
    """Ctrl-C ends a client that waits, in time and with one sentence."""
    time.sleep(0.5)  # it waits by then; if not, it is interrupted earlier, to the same end
    begin = time.monotonic()
    process.send(signal.SIGINT)
    result = process.wait(10)
    assert time.monotonic() - begin < 2 * SCALE
    assert result.rc == 130 and result.stderr.strip().splitlines() == [f'fabperf: {text}'], result


def test_ctrl_c_while_what_listens_says_nothing(other, start):
    interrupted(start('-n', '127.0.0.1', '--port', other(None), *QUICK))


def test_ctrl_c_while_a_server_is_busy(server, start):
    process, port = server()
    first = start('-n', 'localhost', '--port', port, *LONG, '-R', '0.2')
    started_traffic(first)
    interrupted(start('-n', 'localhost', '--port', port, *QUICK))
    assert first.stop(signal.SIGINT).rc == 130
    assert process.stop().rc == 0


def test_ctrl_c_while_a_server_starts(start, free_port, tmp_path):
    path = script(tmp_path, 'exec cat')
    interrupted(start('-n', 'localhost', '--port', free_port(), '--server_exe', path, *QUICK))


# --- starting one here ---

def script(tmp_path, body):
    path = tmp_path / 'server'
    path.write_text(f'#!/bin/sh\n{body}\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize('body, words', [
    ('echo fabperf-ready 9 9.9.9 1234 -; cat >&2', ("fabperf 9.9.9 on host 'localhost' speaks control protocol 9",)),
    ('echo no such option >&2; exit 3', ('exit status 3', 'no such option')),
    ('kill -9 $$', ('killed by signal 9',)),
    ('echo fabperf-ready 2 0.1.0 99999 -; cat', ('malformed ready line',)),
    ('echo one of my own troubles >&2; exec cat', ('was not ready within 1 s', 'one of my own troubles')),
    ('echo noise; echo fabperf-ready 2 0.1.0 1 -; cat >&2', ('its port 1 cannot be reached',)),
])
def test_what_was_started_is_no_server_of_ours(run, free_port, tmp_path, body, words):
    path = script(tmp_path, body)
    result = run('-n', 'localhost', '--port', free_port(), '--server_exe', path, '--connect_timeout', '1', *QUICK)
    sentence(result, *words)


def test_a_missing_executable(run, free_port):
    result = run('-n', 'localhost', '--port', free_port(), '--server_exe', '/no/such/file', *QUICK)
    sentence(result, '/no/such/file', "host 'localhost'", 'No such file')


# --- addresses ---

def test_both_address_families_reach_it(server, client):
    process, port = server()
    for host in ('127.0.0.1', '::1', 'localhost'):
        assert client(port, host=host).rc == 0
    assert process.running()


def test_a_taken_port_and_a_foreign_address(server, run, free_port):
    _, port = server('--bind', '127.0.0.1')
    sentence(run('--port', port, '--bind', '127.0.0.1'), f'port {port} is taken', '--port')
    sentence(run('--port', free_port(), '--bind', '203.0.113.1'), "'203.0.113.1'", '--bind')
