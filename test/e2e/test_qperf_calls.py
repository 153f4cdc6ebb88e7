"""The system calls that 'fabperf qperf' makes, where nothing else shows what it does, and calls that fail."""
import re
import shutil
import subprocess

import pytest

from processes import SCALE

TIMEOUT_S = 30 * SCALE


@pytest.fixture
def traced(fabperf, tmp_path):
    """traced('server' or 'client', call names, *words, fault='') → (process, its calls once it has ended, as lines)."""
    if not shutil.which('strace') or subprocess.run(['strace', '-qq', '-o', '/dev/null', 'true'], check=False,
                                                    capture_output=True).returncode:
        pytest.skip('strace is not installed or may not trace here')
    started = []

    def call(name, calls, *words, fault=''):
        file = tmp_path / name
        faults = ['-e', f'inject={fault}'] if fault else []
        started.append(subprocess.Popen(['strace', '-f', '-qq', '-e', 'signal=none', '-o', file, '-e', f'trace={calls}',
                                         *faults, fabperf, 'qperf', *words], stdout=subprocess.PIPE, text=True))
        return started[-1], lambda: file.read_text().splitlines()

    yield call
    for process in started:
        process.terminate()
        process.wait(TIMEOUT_S)


def output(process):
    text = process.communicate(timeout=TIMEOUT_S)[0]
    assert process.returncode == 0, text
    return text


@pytest.mark.plain
def test_the_calls_of_both_ends(traced, run, free_port):
    """The server listens before it tells its port; the client goes where it went first, and sets what it is told."""
    port = str(free_port())
    server, served = traced('server', 'setsockopt,listen,sendto', '-lp', port)
    client, asked = traced('client', 'setsockopt,connect', 'localhost', '-lp', port, '-t', '0.1', '-lsb', '8K',
                           'tcp_lat', 'tcp_bw', 'udp_lat')
    assert 'udp_lat' in output(client)
    assert run('qperf', 'localhost', '-lp', port, 'quit', timeout=TIMEOUT_S).rc == 0
    server.wait(TIMEOUT_S)
    listened = 0
    for child in {line.split()[0] for line in served()}:
        lines = [line for line in served() if line.split()[0] == child and re.search(r'listen\(|AF", 4', line)]
        if len(lines) == 2:
            assert 'listen' in lines[0]
            listened += 1
    assert listened == 2  # tcp_lat's and tcp_bw's
    for lines in (served(), asked()):
        assert sum('TCP_NODELAY, [1]' in line for line in lines) == 1  # tcp_lat's
    buffers = [line for line in asked() if re.search(r'SO_(SND|RCV)BUF, \[8192\]', line)]
    assert len(buffers) == 2 * 3 and not [line for line in served() if 'BUF' in line]
    addresses = {match[1] for line in asked() if 'sin' in line and 'htons(0)' not in line and
                 (match := re.search(r'(inet_addr\("[^"]+"\)|AF_INET6, "[^"]+")', line))}
    assert len(addresses) == 1


@pytest.mark.plain
def test_a_kernel_without_ipv6(traced, run, free_port):
    """Each process's first socket would be one of IPv6."""
    port = str(free_port())
    server, served = traced('server', 'socket', '-lp', port, fault='socket:error=EAFNOSUPPORT:when=1')
    result = run('qperf', '127.0.0.1', '-lp', port, '-n', '3', 'tcp_lat', 'udp_lat', 'quit', timeout=TIMEOUT_S)
    assert result.rc == 0, result.stdout
    assert not output(server) and 'INJECTED' in served()[0]
