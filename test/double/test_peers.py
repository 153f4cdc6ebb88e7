"""A side that is slow, killed or interrupted amid RDMA traffic: the other names it within seconds, nothing is left."""
import itertools
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from double.runs import options
from processes import SCALE, marked

LONG = ['-D', '30', '-w', '0']


def words(connection, verb, metric):
    return ['-d', 'double0', '-c', connection, '-v', verb, '-m', metric, '-s', '64', *LONG]


def server_of(process):
    """Process id of the server's worker that has the device open: the youngest of the run but the client."""
    found = [pid for pid in marked(process.mark) if pid != process.pid]
    return max(found) if found else None


@pytest.fixture
def running(start, free_port, environment, fabric):
    """running(words, pause=1) → a client amid its traffic, and its server's process id; many may be under way in
    threads. A stream's first live line tells that it flows, else a pause (s) must do."""
    numbers = itertools.count()

    def call(line, pause=1):
        folder = fabric / str(next(numbers))
        folder.mkdir()
        live = ['-R', '0.1'] if 'bw' in line else []
        process = start(*line, *live, '-n', 'localhost', '--port', free_port(), env=environment(folder=folder))
        if live:
            process.until(r'\[ *[0-9.]+s\]', 'stderr', timeout=20)
        else:
            deadline = time.monotonic() + 10 * SCALE
            while not (folder / 'fabric').exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            time.sleep(pause * SCALE)
        assert process.running()
        return process, server_of(process)
    return call


def side_by_side(check, lines):
    """Runs check(line) for each in a thread of its own: most of their time they wait."""
    with ThreadPoolExecutor(len(lines)) as pool:
        list(pool.map(check, lines))


def test_server_killed(running):
    def check(line):
        process, server = running(line)
        os.kill(server, signal.SIGKILL)
        result = process.wait(8)
        said = [line for line in result.stderr.splitlines() if not line.startswith('[')]
        assert result.rc == 1 and len(said) == 1, result
        assert 'localhost' in said[0] or 'double0' in said[0]
    side_by_side(check, [words('RC', 'write', 'bw'), words('RC', 'send', 'lat'), words('UD', 'send', 'bw'),
                         words('RC', 'write', 'lat')])


def test_client_killed(running):
    """wait() of the client fails when its server outlives it."""
    def check(line):
        process, _ = running(line)
        process.send(signal.SIGKILL)
        assert process.wait(8).rc == -signal.SIGKILL
    side_by_side(check, [words('RC', 'write', 'bw'), words('UD', 'send', 'lat')])


def test_interrupted(running, tmp_path):
    """What was measured until then is kept."""
    def check(line):
        file = tmp_path / '-'.join(line[3:8:2])
        for pause in (1, 5):  # on a busy machine a ping-pong begins late
            process, _ = running([*line, '-j', file], pause)
            result = process.stop(signal.SIGINT)
            assert result.rc == 130, result
            results = json.loads(file.read_text())['connections'][0]['results']
            figures = results['bwResults'] or results['latResults'] or {}
            if figures.get('messages', figures.get('samples')):
                return
        pytest.fail(f'nothing was measured: {result}')
    side_by_side(check, [words('RC', 'read', 'bw'), words('RC', 'send', 'lat'), words('UC', 'send', 'bw')])


def test_slow_device(double):
    """Set-up may take its time, as registering much memory does."""
    words = options('RC', 'send', 'bw', '--print_json_results')
    with ThreadPoolExecutor(6) as pool:
        runs = [pool.submit(double, words, **{side: f'slow={call}:2000000'})
                for call in ('ibv_alloc_pd', 'ibv_reg_mr', 'ibv_modify_qp') for side in ('client', 'server')]
        for outcome in [run.result() for run in runs]:
            assert outcome.rc == 0 and outcome.stderr == '', outcome
            assert outcome.connection['setupSec'] >= 1.9
