"""Runs fabperf and its peers, each pinned the same way, and returns their figures in SI units."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

SERVER_CORE, CLIENT_CORE = 0, 1
HOST = '127.0.0.1'
PATIENCE_S = 60  # beyond the duration that was asked for


class Failed(Exception):
    """A program could not be run, or did not say what it should."""


class Missing(Failed):
    """The program is not installed."""


def pinned(core, *words):
    """The words of a command that runs on one core."""
    if not shutil.which(str(words[0])):
        raise Missing(f'{words[0]} is not installed')
    return ['taskset', '-c', str(core), *map(str, words)]


def call(words, seconds=0, env=None):
    """Runs a program to its end and returns its output; Failed with the command when it fails or takes too long."""
    try:
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env,
                             timeout=seconds + PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        raise Failed(f'{" ".join(words)}: did not end within {error.timeout:g} s') from error
    except FileNotFoundError as error:
        raise Missing(f'{words[0]} is missing') from error
    if ran.returncode:
        raise Failed(f'{" ".join(words)}: exit status {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-400:]}')
    return ran.stdout


def number(pattern, text, program):
    """The first number that the pattern's group finds; Failed when it is not there."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise Failed(f'{program} did not print {pattern!r}: {text.strip()[-400:]}')
    return float(found.group(1))


def free_port():
    """A TCP port at which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(('', 0))
        return probe.getsockname()[1]


def bound(port, kind):
    """Whether a local socket has the port: 'tcp' listens at it, 'udp' is bound to it."""
    for name in (kind, f'{kind}6'):
        for line in Path(f'/proc/net/{name}').read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if int(local.rsplit(':', 1)[1], 16) == port and (kind == 'udp' or state == '0A'):
                return True
    return False


def await_port(process, port, kind, words):
    """Waits until the server has its port; Failed when it ends before, or in 20 s."""
    deadline = time.monotonic() + 20
    while not bound(port, kind):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failed(f'{" ".join(words)}: the server did not come up')
        time.sleep(0.01)


def end(process, number_of_signal):
    """Ends a server by a signal, in the end by SIGKILL."""
    if process.poll() is None:
        process.send_signal(number_of_signal)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def server(words, port, kind='tcp', ends_alone=False, stop=signal.SIGTERM):
    """A server on SERVER_CORE while the body runs; what it printed is then in the list that is yielded."""
    words = pinned(SERVER_CORE, *words)
    printed = []
    with tempfile.TemporaryFile('w+') as output:  # a pipe that nobody reads would hold it up
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            await_port(process, port, kind, words)
            yield printed
            if ends_alone:
                process.wait(20)
        except subprocess.TimeoutExpired as error:
            raise Failed(f'{" ".join(words)}: the server did not end') from error
        finally:
            end(process, stop)
            output.seek(0)
            printed.append(output.read())


class Fabperf:
    """Our side: each call is one run of a client, which starts its server itself."""

    def __init__(self, path, host=HOST):
        self.path, self.host = str(path), host

    def run(self, *options, seconds=0, before=()):
        """Runs a client and returns its JSON document; words before it (valgrind) run it."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, 'result.json')
            call([*before, self.path, '-n', self.host, '--port', str(free_port()), '-C', str(CLIENT_CORE),
                  '--server_cores', str(SERVER_CORE), '-j', str(file), *map(str, options)], seconds)
            return json.loads(file.read_text())

    def measure(self, *options, seconds, warmup=0.5):
        """Rates (bytes/s, messages/s) or latencies (s) of a run, and its document."""
        document = self.run('-D', seconds, '-w', warmup, *options, seconds=seconds)
        result = document['connections'][0]['results']
        if result['bwResults']:
            rates = result['bwResults']
            return {'bytes': rates['bwGbSec'] * 1e9 / 8, 'messages': rates['msgRateMpps'] * 1e6}
        latency = result['latResults']
        return {'mean': latency['meanUsec'] / 1e6, 'median': latency['medianUsec'] / 1e6}

    def connect(self, *options):
        """Seconds that a client takes, from start to end, against a server that listens already."""
        port = free_port()
        with server([self.path, '--port', port, '--once', '-C', SERVER_CORE], port, ends_alone=True):
            begin = time.monotonic()
            call(pinned(CLIENT_CORE, self.path, '-n', self.host, '--port', port, '--launch_server', 'off', '-C',
                        CLIENT_CORE, *options), seconds=120)
            return time.monotonic() - begin


def qperf(test, size, seconds):
    """qperf: -uu leaves its figures in bytes/s and ns."""
    port = free_port()
    with server(['qperf', '-lp', port], port):
        text = call(pinned(CLIENT_CORE, 'qperf', '-lp', port, '-uu', '-t', seconds, '-m', size, HOST, test), seconds)
    if test.endswith('_lat'):
        return {'mean': number(r'latency\s*=\s*([\d.]+) ns', text, 'qperf') / 1e9}
    rate = number(r'\b(?:recv_)?bw\s*=\s*([\d.]+) bytes/sec', text.replace('send_bw', ''), 'qperf')
    return {'bytes': rate, 'messages': rate / size}


def iperf3(size, seconds):
    """iperf3: what the receiver counted."""
    port = free_port()
    with server(['iperf3', '-s', '-1', '-p', port], port):
        text = call(pinned(CLIENT_CORE, 'iperf3', '-c', HOST, '-p', port, '-l', size, '-t', seconds, '-J'), seconds)
    return {'bytes': json.loads(text)['end']['sum_received']['bits_per_second'] / 8}


def sockperf_tcp(seconds):
    """sockperf ping-pong over TCP; 14 bytes is the smallest message it sends."""
    port = free_port()
    with server(['sockperf', 'server', '--tcp', '-i', HOST, '-p', port], port):
        text = call(pinned(CLIENT_CORE, 'sockperf', 'ping-pong', '--tcp', '-i', HOST, '-p', port, '-m', 14,
                           '-t', seconds),
                    seconds)
    return {'mean': number(r'avg-latency=([\d.]+)', text, 'sockperf') / 1e6,
            'median': number(r'percentile 50\.000 =\s*([\d.]+)', text, 'sockperf') / 1e6}


def sockperf_udp(size, seconds):
    """sockperf throughput over UDP: what the server says it handled, in the time that the client says it sent."""
    port = free_port()
    with server(['sockperf', 'server', '-i', HOST, '-p', port], port, 'udp', stop=signal.SIGINT) as printed:
        text = call(pinned(CLIENT_CORE, 'sockperf', 'throughput', '-i', HOST, '-p', port, '-m', size, '-t', seconds),
                    seconds)
    took = number(r'messages sent in ([\d.]+) sec', text, 'sockperf')
    rate = number(r'Total (\d+) messages received', printed[0], 'sockperf server') / took
    return {'messages': rate, 'bytes': rate * size}


def fi_pingpong(provider, size, seconds):
    """fi_pingpong between reliable datagram endpoints: usec/xfer is half a round trip; as many as fill the time."""
    def exchange(count):
        port = free_port()
        words = ['fi_pingpong', '-p', provider, '-e', 'rdm', '-S', size, '-I', count, '-B', port]
        client = [*words[:-2], '-P', port]
        with server(words, port, ends_alone=True):
            text = call(pinned(CLIENT_CORE, *client, HOST), 60)
        row = re.search(r'^\d+\s+\S+\s+=?\S+\s+\S+\s+\S+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$', text, re.MULTILINE)
        if not row:
            raise Failed(f'fi_pingpong printed no figures: {text.strip()[-200:]}')
        return float(row.group(1)) / 1e6

    once = exchange(1000)
    return {'mean': exchange(max(1000, int(seconds / (2 * once))))}


def own_qperf(path, test, size, seconds):
    """'fabperf qperf' at both ends, called and read as qperf is."""
    port = free_port()
    with server([path, 'qperf', '-lp', port], port):
        text = call(pinned(CLIENT_CORE, path, 'qperf', HOST, '-lp', port, '-uu', '-t', seconds, '-m', size, test),
                    seconds)
    if test.endswith('_lat'):
        return {'mean': number(r'latency\s*=\s*([\d.]+) ns', text, 'fabperf qperf') / 1e9}
    return {'bytes': number(r'\bbw\s*=\s*([\d.]+) bytes/sec', text, 'fabperf qperf')}


def tcp_loop(path, bytes_a_call, seconds):
    """The bare loop of tcp_loop.c; it pins its two processes itself."""
    text = call(list(map(str, (path, seconds, bytes_a_call, SERVER_CORE, CLIENT_CORE))), seconds)
    return {'bytes': float(text)}


def tcp_ping(path, seconds):
    """The bare loop of tcp_ping.c; it pins its two processes itself."""
    mean, median = call(list(map(str, (path, seconds, SERVER_CORE, CLIENT_CORE))), seconds).split()
    return {'mean': float(mean) / 1e9, 'median': float(median) / 1e9}


class Perftest:
    """The ib_* programs on one RDMA device."""

    def __init__(self, device, host):
        self.device, self.host = device, host

    def both(self, program, *options, seconds=0):
        """Runs server and client → (seconds from the client's start to its end, last line of figures of each)."""
        port = free_port()
        words = [program, '-d', self.device, '-F', '-p', port, *options]
        with server(words, port, ends_alone=True) as printed:
            begin = time.monotonic()
            text = call(pinned(CLIENT_CORE, *words, self.host), seconds)
            took = time.monotonic() - begin
        return took, self.figures(text, program), self.figures(printed[0], program)

    @staticmethod
    def figures(text, program):
        """The numbers below the line of headings; a server that counts nothing prints none."""
        after = text.partition('#bytes')[2]
        row = re.search(r'^\s*(\d+\s+\d+\s+[\d.].*)$', after, re.MULTILINE)
        if not after and 'CPU freq' in text:
            raise Failed(f'{program} cannot tell the clock: {text.strip()[-200:]}')
        return [float(word) for word in row.group(1).split()] if row else None

    def bandwidth(self, program, size, seconds, *options, received=False):
        """Average over the middle of a timed run; margins of 1 s at both ends are left out."""
        _, client, server_ = self.both(program, '-s', size, '-D', seconds + 2, '-f', 1, '--report_gbits', *options,
                                       seconds=seconds + 2)
        row = server_ if received else client
        if not row:
            raise Failed(f'{program} printed no figures')
        return {'bytes': row[3] * 1e9 / 8, 'messages': row[4] * 1e6}

    def latency(self, program, size, seconds, *options):
        """t_typical (its median) of as many exchanges as fill the time by what a short run needs for one."""
        took = self.both(program, '-s', size, '-n', 500, *options)[1]
        exchanges = max(500, min(1000000, int(seconds / (took[5] * 2e-6))))
        row = self.both(program, '-s', size, '-n', exchanges, *options, seconds=seconds * 10)[1]
        return {'median': row[4] / 1e6, 'mean': row[5] / 1e6}

    def connect(self, qps):
        """Seconds that a client takes, from start to end, with so many queue pairs and hardly any traffic."""
        return self.both('ib_write_bw', '-q', qps, '-n', 5, '-t', 5, '-s', 64, '-u', 18, seconds=120)[0]


def instructions(path, *options):
    """Instructions that callgrind counts in a client run against a server that listens already."""
    port = free_port()
    with server([path, '--port', port, '--once', '-C', SERVER_CORE], port, ends_alone=True):
        words = pinned(CLIENT_CORE, 'valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', path, '-n', HOST,
                       '--port', port, '--launch_server', 'off', '-C', CLIENT_CORE, *options)
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if ran.returncode:
        raise Failed(f'{" ".join(words)}: exit status {ran.returncode}: {ran.stderr.strip()[-400:]}')
    return number(r'Collected : (\d+)', ran.stderr, 'callgrind')


def default_path():
    """$FABPERF, else build/fabperf of this tree."""
    return Path(os.environ.get('FABPERF', Path(__file__).resolve().parent.parent / 'build' / 'fabperf')).resolve()
