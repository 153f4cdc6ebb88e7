"""Scenarios over many ranks of this machine, started by Open MPI: who sends to whom, figures, refusals and ends."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from e2e.result_schema import check
from processes import SCALE, executable, marked

pytestmark = [pytest.mark.plain,
              pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')]


@pytest.fixture
def many(run):
    """many('ring', 3, *options, rc=0) → the checked document of a scenario over ranks of this machine."""
    def call(pattern, ranks, *options, rc=0):
        warmup = () if '--warmup_iterations' in options else ('-w', '0')
        result = run('--traffic_pattern', pattern, '-n', f'localhost%[1-{ranks}]', '--print_json_results', *warmup,
                     *options, timeout=90)
        assert result.rc == rc, result
        return check(result.stdout)
    return call


def pairs(document):
    """Numbers of the ranks of each connection, from and to."""
    def number(endpoint):
        return int(endpoint.partition('%')[2].partition(':')[0])
    return [(number(c['requestorEndpoint']), number(c['responderEndpoint'])) for c in document['connections']]


def test_all_to_all_over_tcp(many):
    """Each directed pair once; what was sent arrived at the right peer; one clock: its offset is within its bound."""
    document = many('all_to_all', 3, '-c', 'TCP', '-D', '0.5', '-N', '2', '-q', '2')
    assert sorted(pairs(document)) == [(a, b) for a in (1, 2, 3) for b in (1, 2, 3) if a != b]
    assert [rank['hostName'] for rank in document['ranks']] == ['localhost%1', 'localhost%2', 'localhost%3']
    for connection in document['connections']:
        loss = connection['loss']
        assert connection['status'] in ('ok', 'failed'), connection['error']  # a busy machine: no message in the window
        assert loss['sent'] == loss['received'] > 0 and loss['lost'] == 0
    for rank in document['ranks']:
        moved = {counter['name']: counter['difference'] for counter in rank['counters'] if counter['source'] == 'lo'}
        assert moved['rx_bytes'] >= 65536 * document['aggregatedResults']['perTest'][0]['received']
    for rank in document['ranks'][1:]:
        assert rank['clockShared'] and rank['clockOffsetNsec'] == 0 < rank['clockErrorNsec']
    test = document['aggregatedResults']['perTest'][0]
    assert test['sent'] == sum(c['loss']['sent'] for c in document['connections'])
    assert document['aggregatedResults']['commonWindow']['clockErrorUsec'] > 0
    phases = document['aggregatedResults']['phases']
    assert min(phases.values()) > 0 and phases['trafficSec'] >= 0.5, phases


def test_warm_up_by_count_over_tcp(many):
    """Its messages are none of those that the receiver waits for."""
    document = many('ring', 2, '-c', 'TCP', '-i', '200', '--warmup_iterations', '30', '-q', '2')
    assert [c['results']['bwResults']['messages'] for c in document['connections']] == [400, 400]


def test_latency_beside_bandwidth_over_tcp(run):
    """A ping-pong's messages are none of those that the receiver of the other test waits for."""
    scenario = {'duration': 0.5, 'warmupTime': 0.2, 'trafficPattern': 'ONE_TO_ONE', 'connectionType': 'TCP',
                'testNodes': [{'hostName': 'localhost%[1-2]'}], 'tests': [{'endMargin': 0.1}, {'metric': 'lat'}]}
    result = run('-f', json.dumps(scenario), '--print_json_results', timeout=90)
    document = check(result.stdout)
    assert result.rc == 0 or 'no message completed' in document['error'], result  # a busy machine
    assert document['connections'][0]['loss']['lost'] == 0


def test_figures_are_the_programmed_rate(many):
    """Two senders of 10 Gb/s each: each connection's figure, and what they come to; a busy host may disturb some."""
    for _ in range(6):
        document = many('many_to_one', 3, '-r', 'null', '--null_rate', '10G', '-D', '1')
        rates = [c['results']['bwResults']['bwGbSec'] for c in document['connections']]
        figures = document['aggregatedResults']['perTest'][0]['figures']
        assert [figures['sumGbSec'], figures['meanGbSec']] == pytest.approx([sum(rates), sum(rates) / 2])
        assert [figures['minGbSec'], figures['maxGbSec']] == pytest.approx([min(rates), max(rates)])
        if rates == pytest.approx([10, 10], rel=0.01):
            break
    assert rates == pytest.approx([10, 10], rel=0.01)


def test_both_directions_and_counts(many):
    """A ring of three with both directions on the same queue pairs, by count: both sides have every message."""
    document = many('ring', 3, '-c', 'TCP', '-b', '-i', '500')
    assert document['status'] == 'ok' and len(document['connections']) == 6
    assert all(c['loss']['sent'] == c['loss']['received'] == 500 for c in document['connections'])
    assert len(document['aggregatedResults']['bidirConnections']) == 3


def test_a_summary_is_bounded(many):
    """Hosts and devices, no connections, whatever their number; the sums agree (result_schema)."""
    document = many('all_to_all', 3, '-c', 'TCP', '-b', '-N', '2', '-i', '200', '--results_detail', 'summary')
    results = document['aggregatedResults']
    assert document['connections'] is results['bidirConnections'] is None and 'perProcess' not in results
    assert [row['requestorOf'] for row in results['perDevice']] == [row['responderOf'] for row in results['perNode']] \
        == [2, 2, 2]
    [test] = results['perTest']
    assert test['pairs']['pairs'] == len(test['best']) == 3 and test['best'] == test['worst'][::-1]
    assert test['sent'] == test['received'] == 3 * 2 * 2 * 200


SCENARIOS = Path(__file__).resolve().parents[2] / 'scenarios'


def here(name, **more):
    """A scenario of scenarios/ on ranks of this machine, over the null device unless more says otherwise."""
    def change(value):
        if isinstance(value, list):
            return [change(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {key: re.sub(r'\b[a-z]+(?=[0-9[])', 'localhost%', item) if key == 'hostName' else change(item)
                for key, item in value.items() if key not in ('deviceName', 'cudaDeviceId', 'memoryType')}
    document = change(json.loads((SCENARIOS / name).read_text()))
    for test in document.get('tests', [document]):
        if 'ptiniFile' in test:
            test['ptiniFile'] = str(SCENARIOS / test['ptiniFile'])
        test.update({'rdmaDriver': 'null'} | more)
    return document


def test_a_size_for_each_pair(run, tmp_path):
    """The guide's sample, a 1024th of it: its matrix comes first; each pair sends what it says, in all to the byte."""
    sizes, path = tmp_path / 'sizes.ptini', tmp_path / 'result.json'
    text = (SCENARIOS / 'all2all_v.ptini').read_text()
    sizes.write_text(re.sub(r'\d{5,}', lambda count: str(int(count[0]) // 1024), text))
    scenario = here('all2all_v.json', iterations=2, warmupTime=0, ptiniFile=str(sizes))
    result = run('-f', json.dumps(scenario), '-j', path, timeout=90)
    assert result.rc == 0 and result.stdout.startswith('Test: VariableA2A, endpoints: 5\nHosts: localhost%*'), result
    assert 'skipped 3/20 zero-size pairs' in result.stdout
    document = check(path.read_text())
    sent, received = [0] * 5, [0] * 5
    for (a, b), connection in zip(pairs(document), document['connections'], strict=True):
        bytes_ = connection['results']['bwResults']['bytes']
        config = connection['testConfig']
        assert bytes_ == 2 * config['resourceConfig']['operations'][0]['msgSize']
        assert config['generalConfig']['ptiniDatatype'] == 'int8'
        sent[a - 1] += bytes_ // 2
        received[b - 1] += bytes_ // 2
    assert [4096 * n for n in sent] == [145752064, 140509184, 74448896, 77594624, 79691776]
    assert [4096 * n for n in received] == [152043520, 138412032, 139460608, 79691776, 8388608]


def test_unequal_sizes_over_tcp(many, tmp_path):
    """Ends of one size share workers, others do not; every message arrives with its pair's size."""
    file = tmp_path / 'sizes.ptini'
    file.write_text('[collective]\ntype = ALLTOALLV\ncounts = {\n 0, 25, 25\n 250, 0, 7\n 25, 2, 0\n}\n')
    document = many('a2a', 3, '-c', 'TCP', '-i', '40', '--ptini_file', file)
    assert [(c['results']['bwResults']['bytes'], c['loss']['received']) for c in document['connections']] == \
        [(160 * n, 40) for n in (25, 25, 250, 7, 25, 2)]


def test_peer_shifting(many):
    """Each pair in its round, alone on its ends: in round p rank i sends to i + p; a sender has the link to itself."""
    for _ in range(6):
        document = many('a2a', 3, '--peer_shifting', '-r', 'null', '--null_rate', '10G', '-D', '0.3')
        for (a, b), connection in zip(pairs(document), document['connections'], strict=True):
            assert b == (a - 1 + connection['testConfig']['generalConfig']['trafficPhaseId']) % 3 + 1
        assert sorted(pairs(document)) == [(a, b) for a in (1, 2, 3) for b in (1, 2, 3) if a != b]
        test = document['aggregatedResults']['perTest'][0]
        rates = [c['results']['bwResults']['bwGbSec'] for c in document['connections']]
        assert test['rounds'] == 2 and test['figures']['sumGbSec'] == pytest.approx(sum(rates) / 2)
        if rates == pytest.approx([10] * 6, rel=0.02):
            break
    assert rates == pytest.approx([10] * 6, rel=0.02)


def test_a_failed_pair_does_not_end_the_rounds(run, tmp_path):
    """A rank whose provider nobody else has: its pairs fail at both ends, with the reason; the others have figures."""
    path = tmp_path / 'result.json'
    scenario = {'trafficPattern': 'ALL_TO_ALL', 'peerShifting': True, 'duration': 0.3, 'warmupTime': 0, 'endMargin': 0,
                'rdmaDriver': 'ofi', 'testNodes': [{'hostName': 'localhost%[1-2]', 'deviceName': 'tcp'},
                                                   {'hostName': 'localhost%3', 'deviceName': 'udp'}]}
    result = run('-f', json.dumps(scenario), '-j', path, timeout=120)
    document = check(path.read_text())
    assert result.rc == 1 and document['status'] == 'failed', result
    why = {pair: c['error'] for pair, c in zip(pairs(document), document['connections'], strict=True)
           if c['status'] != 'ok' and 'no message completed' not in c['error']}  # that is a busy machine
    assert sorted(why) == [(1, 3), (2, 3), (3, 1), (3, 2)]
    assert all('choose one for both' in error for error in why.values())
    [test] = document['aggregatedResults']['perTest']
    assert test['failedConnections'] == len(test['failures']) >= 4
    assert 'localhost%1:tcp -> localhost%3:udp: host' in result.stdout and result.stdout.count('failed') >= 4


def test_sweep(many):
    """Each combination is a test of its own, with counts of its own."""
    document = many('ring', 2, '-c', 'TCP', '-s', '64,4K', '-q', '1,2', '-i', '50', '--results_detail', 'connections')
    tests = document['aggregatedResults']['perTest']
    assert [(t['numQps'], t['msgSize']) for t in tests] == [(1, 64), (1, 4096), (2, 64), (2, 4096)]
    assert [t['received'] for t in tests] == [100, 100, 200, 200]
    assert [c['msgSize'] for c in document['connections']] == [64, 64, 4096, 4096] * 2
    assert [c['loss']['received'] for c in document['connections']] == [50] * 4 + [100] * 4
    assert [row['test'] for row in document['aggregatedResults']['perNode']] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert document['status'] == 'ok' and len(document['aggregatedResults']['bidirConnections']) == 0


def test_in_step_with_validation(many):
    """Every message of every iteration arrives at its peer and is compared; only the iterations are timed."""
    document = many('a2a', 3, '-r', 'ofi', '-d', 'shm', '--iteration_sync', '-i', '10', '-q', '2', '-s', '5000',
                    '--validate', '-v', 'write')
    figures = document['aggregatedResults']['perTest'][0]['figures']
    assert document['status'] == 'ok' and 0 < figures['meanIterationUsec'] <= figures['maxIterationUsec']
    for connection in document['connections']:
        rate = connection['results']['bwResults']
        assert connection['loss']['sent'] == connection['loss']['received'] == rate['messages'] == 20
        found = connection['results']['validationResults']
        assert (found['validatedMessages'], found['invalidDataSampleCount']) == (20, 0)
        assert rate['bwGbSec'] == pytest.approx(20 * 5000 * 8 / rate['durationSec'] / 1e9)
        assert rate['durationSec'] <= 10.001 * figures['maxIterationUsec'] / 1e6


def test_in_step_both_ways(many):
    """Both directions on the same queue pairs, two workers, after a warm-up by count; messages of both are compared."""
    document = many('a2a', 2, '-r', 'ofi', '-d', 'shm', '--iteration_sync', '-i', '5', '-b', '-N', '2', '--validate',
                    '--warmup_iterations', '2')
    assert document['status'] == 'ok' and len(document['connections']) == 2
    for connection in document['connections']:
        assert connection['results']['bwResults']['messages'] == 10
        assert connection['results']['validationResults']['validatedMessages'] == 14


def test_in_step_sizes_have_no_sum(many, tmp_path):
    file = tmp_path / 'sizes.ptini'
    file.write_text('[collective]\ntype = ALLTOALLV\ncounts = {\n 0, 25, 0\n 250, 0, 7\n 0, 2, 0\n}\n')
    document = many('a2a', 3, '-r', 'ofi', '-d', 'shm', '--iteration_sync', '-i', '5', '--ptini_file', file)
    assert document['aggregatedResults']['perTest'][0]['figures']['sumGbSec'] is None
    assert [c['results']['bwResults']['bytes'] for c in document['connections']] == [20 * n for n in (25, 250, 7, 2)]


@pytest.mark.parametrize('options', [('-r', 'ofi', '-d', 'shm'), ('-c', 'TCP')])
def test_validation(many, options):
    """Each connection's messages are told from those of the others."""
    document = many('a2a', 3, *options, '--validate', '-i', '20', '-H')
    for connection in document['connections']:
        found = connection['results']['validationResults']
        assert (found['validatedMessages'], found['invalidDataSampleCount']) == (20, 0)
        assert any(len(process['qpHistogram'] or []) == 1 for process in connection['resultsPerProcess'])


def test_report_for_people(run):
    result = run('--traffic_pattern', 'm2o', '-n', 'localhost%[1-3]', '-r', 'null', '-i', '1000', '-w', '0', '-s', '8',
                 timeout=90)
    assert result.rc == 0, result
    assert 'Bandwidth: MANY_TO_ONE UNIDIR, RC write, 8 bytes, 2 connections' in result.stdout
    assert 'from \\ to' in result.stdout and 'localhost%3 ' in result.stdout


@pytest.mark.waits
@pytest.mark.parametrize('options, part', [
    (('-n', 'localhost%[1-2]', '--mpirun', 'no-such-mpirun -v'), "there is no 'no-such-mpirun' (--mpirun)"),
    (('-n', 'localhost%[1-2]', '--results_detail', 'summary'), '--results_detail has no effect without -j or'),
    (('-n', 'localhost,other', '-r', 'null'), "'localhost' is another host"),
    (('-n', 'localhost%[1-2]', '-r', 'sock', '-d', 'nodev0'), "host 'localhost%1', 'localhost%2': there is no network"),
])
def test_refusals(run, options, part):
    result = run('--traffic_pattern', 'all_to_all', *(() if '-r' in options else ('-r', 'null')), *options,
                 timeout=90)
    assert result.rc == 1 and part in result.stderr, result
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ''


@pytest.mark.waits
@pytest.mark.parametrize('pattern, options, connections', [
    ('ring', ('-c', 'TCP', '-D', '60', '-w', '0'), 2),
    ('m2o', ('-c', 'TCP', '-D', '60', '-w', '0'), 1),  # the rank that hears it only receives
    ('m2o', ('-c', 'TCP', '-i', '10', '--warmup_iterations', '1000000000'), 1),
    ('a2a', ('-r', 'ofi', '-d', 'shm', '--iteration_sync', '-i', '1000000000'), 2),
])
def test_ctrl_c_ends_all(start, tmp_path, pattern, options, connections):
    """Whenever it comes: the document is whole, nothing is left, and what ran is in it."""
    path = tmp_path / 'result.json'
    process = start('--traffic_pattern', pattern, '-n', 'localhost%[1-2]', *options, '-j', path)
    time.sleep(5)
    process.send(signal.SIGINT)
    result = process.wait(40)
    document = check(path.read_text())
    assert result.rc == 130 and document['status'] == 'interrupted', result
    assert len(document['connections']) == connections
    assert all(not c['loss'] or c['loss']['received'] > 0 for c in document['connections'])


def ranks_of(process):
    """Processes of ranks that run now."""
    return [pid for pid, words in marked(process.mark).items()
            if words.endswith(' rank') and executable(pid) == executable(process.pid)]


def cpu_seconds(pid):
    """Time that a process has used: the traffic takes all that there is, and what comes before it little."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def kill_a_rank(process, ranks):
    os.kill(ranks[1], signal.SIGKILL)


def stop_a_rank(process, ranks):
    os.kill(ranks[1], signal.SIGSTOP)


def kill_mpirun(process, ranks):
    [child] = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    os.kill(int(child), signal.SIGKILL)


@pytest.mark.waits
@pytest.mark.parametrize('trouble, words', [
    (kill_a_rank, r"the rank on host 'localhost%[123]' was killed or crashed"),
    (stop_a_rank, r"host 'localhost%[123]' \(rank [012]\) has been silent for 4 s"),
    (kill_mpirun, 'mpirun was killed by signal 9'),
])
def test_what_ends_it_is_named(start, tmp_path, trouble, words):
    """It ends by itself, with one sentence and a whole document, and nothing is left."""
    path = tmp_path / 'result.json'
    process = start('--traffic_pattern', 'ring', '-n', 'localhost%[1-3]', '-c', 'TCP', '-D', '60', '-w', '0', '-j',
                    path)
    deadline = time.monotonic() + 60 * SCALE
    while len(ranks := ranks_of(process)) < 3 or min(map(cpu_seconds, ranks)) < 2 * SCALE:
        assert time.monotonic() < deadline, ranks
        time.sleep(0.1)
    begin = time.monotonic()
    trouble(process, ranks)
    result = process.wait(60)
    took = time.monotonic() - begin
    document = check(path.read_text())
    assert result.rc == 1 and document['status'] == 'failed' and len(document['connections']) == 3, result
    assert re.search(words, document['error']), document['error']
    assert took < 10 * SCALE  # 6 s, also where 19 processes want 2 cores


def connections_in(traffic_class):
    """Ends of TCP connections of fabperf's, with the traffic class that the kernel tells of each."""
    told = subprocess.run(['ss', '-tnHp', '--tos', 'state', 'established'], capture_output=True, text=True, check=True)
    return sum(f'tos:{traffic_class:#x} ' in f'{line} ' and '"fabperf"' in line for line in told.stdout.splitlines())


def test_mpis_connections_have_a_class_of_their_own(start):
    """Both ends of each of three pairs' connections, before a byte of the tests is sent; the tests have another one."""
    running = start('--traffic_pattern', 'all_to_all', '-n', 'localhost%[1-3]', '-c', 'TCP', '--traffic_class', '36',
                    '--control_traffic_class', '92', '-D', '3', '-w', '0')
    control = data = 0
    while running.running() and (control < 6 or data < 12):
        control, data = max(control, connections_in(92)), max(data, connections_in(36))
    result = running.wait(60)
    assert result.rc == 0 and control >= 6 and data == 12, (result, control, data)


def test_one_control_class_for_all(run):
    tests = [{'testName': name, 'trafficPattern': 'RING', 'controlTrafficClass': value, 'connectionType': 'TCP',
              'testNodes': [{'hostName': 'localhost%1'}, {'hostName': 'localhost%2'}]}
             for name, value in (('a', 4), ('b', 8))]
    result = run('-f', json.dumps({'tests': tests}))
    assert result.rc == 1 and 'tests differ in controlTrafficClass' in result.stderr, result
