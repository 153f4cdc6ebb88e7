"""A side that is slow, killed or interrupted amid RDMA traffic: the other names it within seconds, nothing is left."""
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
    """running(words) → a client amid its traffic, and its server's process id."""
    def call(line):
        process = start(*line, '-n', 'localhost', '--port', free_port(), env=environment())
        deadline = time.monotonic() + 10 * SCALE
        while not (fabric / 'fabric').exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(1 * SCALE)
        assert process.running()
        return process, server_of(process)
    return call


@pytest.mark.parametrize('line', [words('RC', 'write', 'bw'), words('RC', 'send', 'lat'), words('UD', 'send', 'bw'),
                                  words('RC', 'write', 'lat')], ids=lambda line: '-'.join(line[3:8:2]))
def test_server_killed(running, line):
    process, server = running(line)
    os.kill(server, signal.SIGKILL)
    result = process.wait(8)
    assert result.rc == 1 and len(result.stderr.splitlines()) == 1, result
    assert 'localhost' in result.stderr or 'double0' in result.stderr


@pytest.mark.parametrize('line', [words('RC', 'write', 'bw'), words('UD', 'send', 'lat')],
                         ids=lambda line: '-'.join(line[3:8:2]))
def test_client_killed(running, line):
    """wait() of the client fails when its server outlives it."""
    process, _ = running(line)
    process.send(signal.SIGKILL)
    assert process.wait(8).rc == -signal.SIGKILL


@pytest.mark.parametrize('line', [words('RC', 'read', 'bw'), words('RC', 'send', 'lat'), words('UC', 'send', 'bw')],
                         ids=lambda line: '-'.join(line[3:8:2]))
def test_interrupted(running, line):
    process, _ = running([*line, '--print_json_results'])
    result = process.stop(signal.SIGINT)
    assert result.rc == 130, result
    results = json.loads(result.stdout)['connections'][0]['results']
    figures = results['bwResults'] or results['latResults']
    assert figures.get('messages', figures.get('samples')) > 0


def test_slow_device(double):
    """Set-up may take its time, as registering much memory does."""
    words = options('RC', 'send', 'bw', '--print_json_results')
    with ThreadPoolExecutor(6) as pool:
        runs = [pool.submit(double, words, **{side: f'slow={call}:2000000'})
                for call in ('ibv_alloc_pd', 'ibv_reg_mr', 'ibv_modify_qp') for side in ('client', 'server')]
        for outcome in [run.result() for run in runs]:
            assert outcome.rc == 0 and outcome.stderr == '', outcome
            assert outcome.connection['setupSec'] >= 1.9
