"""Sweeps: each point is what a run of its own would be, over one connection, with as few set-ups as can be."""
import json
import re
import signal
import time

import pytest

from e2e.result_schema import check
from e2e.test_null import lost_of
from processes import SCALE

QUICK = ('-D', '0.2', '-w', '0')


def points_of(document):
    """perTest, after the rules that hold between it and the connections."""
    tests = document['aggregatedResults']['perTest']
    numbers = [number for test in tests for number in test['connectionIds']]
    assert numbers == [entry['connectionId'] for entry in document['connections']] == list(range(len(numbers)))
    for test in tests:
        connection = document['connections'][test['connectionIds'][0]]
        config = connection['testConfig']['resourceConfig']
        assert (test['msgSize'], test['numQps'], test['txDepth']) == (
            config['operations'][0]['msgSize'], config['numQps'], config['txDepth'])
        assert test['status'] == connection['status']
        if len(test['connectionIds']) == 1:
            assert test['bwResults'] == connection['results']['bwResults']
        assert (test['latResults'] is None) == (connection['results']['latResults'] is None)
    return tests


def setups(document):
    return document['aggregatedResults']['setups']


# --- each point's figure is the truth of its own run ---

def test_sizes_on_a_link_of_known_rate(measure):
    words = ('-r', 'null', *QUICK, '-s', '1K,64K,4K,1M', '--null_rate', '10G')
    for _ in range(6):  # a busy machine may hold a worker up
        document = measure(*words)
        tests = points_of(document)
        assert [test['msgSize'] for test in tests] == [1024, 65536, 4096, 1048576]
        assert setups(document) == 1 and document['scenario']['msgSize'] == [1024, 65536, 4096, 1048576]
        figures = [test['bwResults']['bwGbSec'] for test in tests]
        if all(abs(figure - 10) <= 0.01 + 20 / test['bwResults']['messages'] * 10
               for figure, test in zip(figures, tests, strict=True)):
            break
    else:
        pytest.fail(f'{figures} are not 10 Gb/s')


def test_latency_of_sizes(measure):
    """1 KiB at 1 Gb/s lasts 8.192 us."""
    best = [float('inf')] * 3  # of several runs: a busy machine can only add
    for _ in range(8):
        tests = points_of(measure('-r', 'null', *QUICK, '-m', 'lat', '-s', '1K:4K:*2', '--null_rate', '1G',
                                 '--null_latency', '10us'))
        truth = [10 + test['msgSize'] * 8 / 1000 for test in tests]
        low = [test['latResults']['minUsec'] for test in tests]
        best = [min(least, test['latResults']['medianUsec']) for least, test in zip(best, tests, strict=True)]
        slack = 0.001 if SCALE == 1 else 0.1  # us: a sanitized clock's cost varies
        assert all(figure >= true * 0.9999 - slack for figure, true in zip(low, truth, strict=True)), (low, truth)
        if all(figure <= true * 1.01 + 0.1 * SCALE for figure, true in zip(best, truth, strict=True)):
            break
    else:
        pytest.fail(f'{best} are not {truth}')


@pytest.mark.waits
@pytest.mark.parametrize('options', [(), ('-v', 'send'), ('-c', 'UD')])
def test_loss_begins_anew_with_each_point(measure, options):
    """The same messages are lost in each test as in a run of its own."""
    document = measure('-r', 'null', '-w', '0', '-i', '3000', '-s', '64,1K,512', '-q', '1,2', '--null_loss', '0.1',
                       *options)
    assert setups(document) == 2
    for connection in document['connections']:
        qps = connection['testConfig']['resourceConfig']['numQps']
        assert connection['loss']['sent'] == 3000 * qps
        assert connection['loss']['lost'] == lost_of(3000, 0.1, qps=qps)


@pytest.mark.waits
@pytest.mark.parametrize('connection', ['TCP', 'UDP'])
def test_sockets_count_every_message(measure, connection):
    """By time, so that a test ends wherever it stands: the next begins between two messages all the same."""
    document = measure('-c', connection, '-D', '0.1', '-w', '0.05', '-s', '1,64,8K,1000,60K')
    assert setups(document) == 1
    points_of(document)
    for entry in document['connections']:
        assert entry['status'] == 'ok'
        assert entry['results']['bwResults']['messages'] > 0 or entry['remarks']
        if connection == 'TCP':
            assert entry['loss']['lost'] == 0
        else:
            assert entry['loss']['duplicated'] in (0, None)
        assert 'badMessages' not in entry['responder']['facts']


@pytest.mark.waits
@pytest.mark.parametrize('options', [
    ('-c', 'TCP'), ('-c', 'UDP'), ('-r', 'null', '-v', 'send'), ('-c', 'TCP', '-q', '6'),
])
def test_counts_are_exact(measure, options):
    document = measure(*options, '-i', '500', '-w', '0', '-s', '64:16K:*4')
    qps = 6 if '-q' in options else 1
    assert setups(document) == 1 and len(points_of(document)) == 5
    for entry in document['connections']:
        assert entry['loss']['sent'] == 500 * qps
        assert entry['requestor']['bwResults']['messages'] == 500 * qps


@pytest.mark.waits
@pytest.mark.parametrize('options', [('-r', 'null'), ('-r', 'null', '-v', 'send'), ('-c', 'TCP'), ('-c', 'UDP')])
def test_both_directions(measure, options):
    document = measure(*options, '-b', '-i', '500', '-w', '0', '-s', '64,4K,100')
    tests = points_of(document)
    assert setups(document) == 1 and len(document['aggregatedResults']['bidirConnections']) == 3
    for test, size in zip(tests, (64, 4096, 100), strict=True):
        assert test['msgSize'] == size
        assert test['bwResults']['messages'] == 1000 or '-c' in options and 'UDP' in options


def test_both_directions_by_time(measure):
    document = measure('-c', 'TCP', '-b', '-D', '0.1', '-w', '0.05', '-s', '1000,64K,77')
    for entry in document['connections']:
        assert entry['status'] == 'ok' and entry['loss']['lost'] == 0


def test_latency_over_sockets(measure):
    document = measure('-c', 'TCP', '-m', 'lat', '-i', '50', '-w', '0', '-s', '1,64K,8', timeout=90)
    assert [test['latResults']['samples'] for test in points_of(document)] == [50] * 3


# --- order and set-ups ---

def test_the_order_of_a_product(measure):
    document = measure('-r', 'null', '-w', '0', '-i', '100', '-s', '64,128', '-q', '2,1', '-t', '8,32')
    points = [(test['numQps'], test['txDepth'], test['msgSize']) for test in points_of(document)]
    assert points == [(q, t, s) for q in (2, 1) for t in (8, 32) for s in (64, 128)]
    assert setups(document) == 4
    assert document['scenario']['numQps'] == [2, 1] and document['scenario']['txDepth'] == [8, 32]


@pytest.mark.waits
def test_all_sizes(measure):
    tests = points_of(measure('-r', 'null', '-a', '-i', '20', '-w', '0'))
    assert [test['msgSize'] for test in tests] == [2 ** k for k in range(1, 24)]


def test_one_value_is_no_sweep(measure):
    document = measure('-r', 'null', '-i', '100', '-w', '0', '-s', '64')
    assert document['scenario']['msgSize'] == 64
    assert 'perTest' not in document['aggregatedResults']


# --- the table ---

def rows(stdout):
    return [line.split() for line in stdout.splitlines() if re.match(r' +\d+ +\d+ ', line)]


@pytest.mark.waits
def test_the_table_grows_by_whole_rows(start, free_port):
    process = start('-n', 'localhost', '--port', free_port(), '-r', 'null', '-D', '0.7', '-w', '0', '-s', '64,128,256')
    process.until(r'Bandwidth: RC write, 3 tests.*\n +row +bytes .*\n +1 +64 .*\n', timeout=20)
    assert len(rows(process.seen['stdout'].decode())) < 3
    result = process.wait(30)
    assert result.rc == 0 and result.stderr == ''
    assert [row[:2] for row in rows(result.stdout)] == [['1', '64'], ['2', '128'], ['3', '256']]
    assert 'Set-ups: 1 for 3 tests.' in result.stdout
    assert '--msg_size=64,128,256' in result.stdout


def test_json_on_stdout_has_no_table(run, free_port):
    result = run('-n', 'localhost', '--port', free_port(), '-r', 'null', '-i', '100', '-w', '0', '-s', '64,128',
                 '--print_json_results')
    assert len(json.loads(result.stdout)['connections']) == 2


# --- how a sweep ends ---

@pytest.mark.waits
@pytest.mark.parametrize('words, sentence', [
    (('-c', 'UD', '-s', '64,8K'), '-s 8Ki does not go with -c UD'),
    (('-s', '64,64'), '-s: item 2: the value 64 is there twice'),
    (('-s', '64:1K'), "-s: item 1, '64:1K': a range has a start, an end and a step"),
    (('-a', '-v', 'read', '-s', '8'), '-a and -s exclude each other'),
    (('-a', '-v', 'atomic_cs'), '-a does not go with -v atomic_cs'),
])
def test_bad_points_are_named_before_anything_starts(run, free_port, words, sentence):
    result = run('-n', 'localhost', '--port', free_port(), '-r', 'null', *words)
    assert result.rc == 1 and not result.stdout
    assert len(result.stderr.splitlines()) == 1 and sentence in result.stderr


def test_the_server_checks_all_points_first(run, serve):
    """Its memory limit counts the largest test, its conditions each: nothing runs."""
    server, port = serve('--memory_limit', '64M')
    words = ('-n', 'localhost', '--port', port, '-r', 'null', '-i', '10', '-w', '0')
    result = run(*words, '-s', '64', '-q', '1,16384')
    assert result.rc == 1 and not result.stdout and 'this server allows 64 MiB' in result.stderr
    assert run(*words, '-s', '64,128').rc == 0
    assert server.stop().rc == 0
    server, port = serve('-s', '64')
    words = ('-n', 'localhost', '--port', port, '-r', 'null', '-i', '10', '-w', '0')
    result = run(*words, '-s', '64,128')
    assert result.rc == 1 and not result.stdout
    assert "started with -s 64, but the client's test has 128" in result.stderr


def test_a_threshold_that_one_point_misses(run, free_port, tmp_path):
    """1 KiB take 18 us, 1 MiB 8.4 ms: the other tests run all the same."""
    result = run('-n', 'localhost', '--port', free_port(), '-r', 'null', *QUICK, '-m', 'lat', '-s', '1K,1M,2K',
                 '--null_rate', '1G', '--null_latency', '10us', '--lat_threshold', '5000', '-j', tmp_path / 'out.json')
    assert result.rc == 2
    assert 'Threshold: median latency <= 5000 usec: missed in row 2' in result.stdout
    document = check((tmp_path / 'out.json').read_text())
    assert document['status'] == 'threshold'
    assert [point['status'] for point in points_of(document)] == ['ok', 'threshold', 'ok']
    assert document['aggregatedResults']['threshold']['status'] == 'missed'


@pytest.mark.waits
def test_interrupted_in_the_middle(start, free_port, tmp_path):
    """What was measured is kept, and the document is whole."""
    path = tmp_path / 'out.json'
    words = ('-r', 'null', '-D', '1', '-w', '0', '-s', '64,128,256,512', '-j', path)
    process = start('-n', 'localhost', '--port', free_port(), *words)
    process.until(r'\n +1 +64 .*\n', timeout=20)
    time.sleep(0.3 * SCALE)
    process.send(signal.SIGINT)
    result = process.wait(15)
    assert result.rc == 130, result
    document = check(path.read_text())
    assert document['status'] == 'interrupted'
    tests = points_of(document)
    assert tests[0]['status'] == 'ok' and 2 <= len(tests) < 4
    assert document['aggregatedResults']['testsAsked'] == 4
    assert f'Interrupted in test {len(tests)} of 4' in result.stdout


@pytest.mark.waits
def test_a_lost_server_leaves_what_was_measured(start, serve, tmp_path):
    server, port = serve()
    path = tmp_path / 'out.json'
    process = start('-n', 'localhost', '--port', port, '-c', 'TCP', '-D', '1', '-w', '0', '-s', '64,1K,128', '-j', path)
    process.until(r'\n +1 +64 .*\n', timeout=20)
    time.sleep(0.3 * SCALE)
    server.discard()
    result = process.wait(20)
    assert result.rc == 1, result
    assert 'test 2 of 3' in result.stderr
    document = check(path.read_text())
    assert [test['status'] for test in points_of(document)] == ['ok', 'failed']
    assert document['status'] == 'failed'


def test_a_server_serves_the_next_client_after_a_sweep(run, serve):
    _, port = serve()
    words = ('-n', 'localhost', '--port', port, '-r', 'null', '-i', '100', '-w', '0')
    assert run(*words, '-s', '64,128', '-q', '1,2').rc == 0
    assert run(*words).rc == 0
