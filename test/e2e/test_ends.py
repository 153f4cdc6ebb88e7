"""However a run ends, no process stays behind, and the server goes on serving whoever comes next."""
import os
import re
import signal
import time
from pathlib import Path

import pytest

from e2e.result_schema import check
from processes import SCALE, marked

pytestmark = pytest.mark.waits

NULL = ('-r', 'null', '-w', '0')
QUICK = (*NULL, '-D', '0.1')
LONG = (*NULL, '-D', '30', '-R', '0.2')
KINDS = {'null': ('-r', 'null', '--null_rate', '10G'),
         'null loss': ('-r', 'null', '--null_loss', '0.1', '--null_rate', '10G'),
         'tcp': ('-c', 'TCP'), 'tcp polling': ('-c', 'TCP', '--events', 'off'), 'udp': ('-c', 'UDP')}


@pytest.fixture
def use(run):
    """use(port, *options) → Result of a client of the server at that port; it never starts one."""
    return lambda port, *options: run('-n', 'localhost', '--port', port, '--launch_server', 'off', *options)


@pytest.fixture
def client(start):
    """client(port, *options) → Process of a client of the server at that port, once its traffic runs."""
    def call(port, *options):
        words = ('-n', 'localhost', '--port', port, '--launch_server', 'off', '-w', '0', '-D', '30', '-R', '0.2')
        process = start(*words, *options)
        process.until('Gb/s', 'stderr')
        return process
    return call


def children(process):
    return [int(word) for word in Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()]


def idle(process, within=8):
    """Waits until the server has no child left."""
    deadline = time.monotonic() + within * SCALE
    while children(process):
        assert time.monotonic() < deadline, f'still there: {marked(process.mark)}'
        time.sleep(0.05)


def serves(process, use, port):
    """It serves again, by itself only."""
    result = use(port, *QUICK, '--connect_timeout', '15')
    assert result.rc == 0, result
    idle(process)
    assert list(marked(process.mark)) == [process.pid]


# --- many runs ---

def test_twenty_runs_in_a_row(serve, use):
    process, port = serve()
    options = [('-r', 'null'), ('-c', 'TCP'), ('-c', 'UDP'), ('-r', 'null', '-m', 'lat'), ('-c', 'TCP', '-m', 'lat')]
    begin = time.monotonic()
    for number in range(20):
        result = use(port, *options[number % len(options)], '-D', 0.1 * SCALE, '-w', '0', '--print_json_results')
        assert result.rc == 0, result
        assert check(result.stdout)['status'] == 'ok'
    assert time.monotonic() - begin < 60 * SCALE
    idle(process)
    assert list(marked(process.mark)) == [process.pid]
    assert not process.stop().stdout


def test_descriptors_do_not_pile_up(serve, use):
    process, port = serve()
    before = len(os.listdir(f'/proc/{process.pid}/fd'))
    for _ in range(4):
        assert use(port, *QUICK).rc == 0
    deadline = time.monotonic() + 5 * SCALE  # the last one's is closed when it is reaped
    while len(now := os.listdir(f'/proc/{process.pid}/fd')) != before:
        assert time.monotonic() < deadline, now
        time.sleep(0.05)


def test_two_clients_at_once(serve, client, use):
    """The second one waits, and its figures are its own."""
    process, port = serve()
    first = client(port, *KINDS['null'])
    begin = time.monotonic()
    result = use(port, *QUICK, '--connect_timeout', '0.5')
    assert result.rc == 1 and 'busy' in result.stderr and time.monotonic() - begin < 5 * SCALE
    assert first.running()
    assert first.stop(signal.SIGINT).rc == 130
    serves(process, use, port)


def test_clients_in_line_are_all_served(serve, start):
    process, port = serve()
    words = ('-n', 'localhost', '--port', port, '--launch_server', 'off', '-r', 'null', '-w', '0', '-D', '0.3',
             '--connect_timeout', '20', '--print_json_results')
    line = [start(*words) for _ in range(4)]
    for one in line:
        result = one.wait(40)
        assert result.rc == 0, result
        assert check(result.stdout)['connections'][0]['results']['bwResults']
    idle(process)


# --- a client that is gone ---

@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_client_that_ends(serve, client, use, kind, number):
    process, port = serve()
    running = client(port, *KINDS[kind])
    result = running.stop(number)
    assert result.rc == (-signal.SIGKILL if number == signal.SIGKILL else 130), result
    serves(process, use, port)
    ended = process.stop()
    assert ended.rc == 0
    complaints = [line for line in ended.stderr.splitlines() if 'waiting for clients' not in line]
    assert len(complaints) == (1 if number == signal.SIGKILL else 0), ended.stderr
    assert all(line.startswith('fabperf: ') for line in complaints)


@pytest.mark.parametrize('kind', ['null', 'tcp', 'udp'])
def test_a_client_that_is_stopped(serve, client, use, kind):
    """It is named within 5 s, and the next client is served."""
    process, port = serve()
    stopped = client(port, *KINDS[kind])
    begin = time.monotonic()
    stopped.send(signal.SIGSTOP)
    process.until('has been silent for', 'stderr', timeout=7)
    assert time.monotonic() - begin < 6 * SCALE
    serves(process, use, port)
    stopped.send(signal.SIGCONT)
    result = stopped.wait(10)
    assert result.rc == 1 and 'localhost' in result.stderr


def test_a_client_that_is_killed_in_the_warm_up(serve, start, use):
    process, port = serve()
    running = start('-n', 'localhost', '--port', port, '--launch_server', 'off', '-r', 'null', '-w', '30')
    deadline = time.monotonic() + 5 * SCALE
    while not children(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.stop(signal.SIGKILL)
    serves(process, use, port)


# --- a server that is gone ---

@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_ends(serve, client, kind, number):
    """The whole of it: the child that serves us ends with it, and the client says who is gone."""
    process, port = serve()
    running = client(port, *KINDS[kind])
    begin = time.monotonic()
    process.stop(number)
    result = running.wait(10)
    assert time.monotonic() - begin < 6 * SCALE
    assert result.rc == (1 if number == signal.SIGKILL else 130)
    assert 'localhost' in (result.stderr if number == signal.SIGKILL else result.stdout), result


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_launched_server_ends_with_its_client(start, free_port, number):
    running = start('-n', 'localhost', '--port', free_port(), *LONG)
    running.until('Gb/s', 'stderr')
    assert len(marked(running.mark)) >= 2
    running.stop(number)  # fails when a process is left


def test_once_ends_after_one(serve, use):
    process, port = serve('--once')
    assert use(port, *QUICK).rc == 0
    assert process.wait(5).rc == 0
    result = use(port, *QUICK, '--connect_timeout', '0.5')
    assert result.rc == 1 and 'localhost' in result.stderr


def test_a_second_server_on_the_port(serve, start):
    process, port = serve()
    result = start('--port', port).wait(5)
    assert result.rc == 1 and len(result.stderr.splitlines()) == 1 and str(port) in result.stderr
    assert process.running()


def test_the_port_is_free_again_at_once(start, free_port, use):
    port = free_port()
    for _ in range(3):
        process = start('--port', port)
        process.until('waiting for clients', 'stderr')
        assert use(port, *QUICK).rc == 0
        assert process.stop().rc == 0


# --- before anything is set up ---

@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('words', [(), ('qperf', '-lp')])
def test_no_library_catches_the_signals_that_end_a_process(start, free_port, number, words):
    port = free_port()
    process = start(*words, port) if words else start('--port', port)
    end = time.monotonic() + 5 * SCALE
    while f':{int(port):04X} ' not in Path('/proc/net/tcp6').read_text() + Path('/proc/net/tcp').read_text():
        assert time.monotonic() < end and process.running()
        time.sleep(0.02)
    caught = int(re.search(r'^SigCgt:\s*(\w+)', Path(f'/proc/{process.pid}/status').read_text(), re.M)[1], 16)
    assert not caught & 1 << number - 1


def test_a_signal_at_once_ends_a_client_at_once(start, free_port):
    for delay in (0.01, 0.03, 0.05, 0.1, 0.15, 0.2):
        process = start('-n', 'localhost', '--port', free_port(), *LONG)
        time.sleep(delay * SCALE)
        assert process.stop().rc in (-signal.SIGTERM, 130)
