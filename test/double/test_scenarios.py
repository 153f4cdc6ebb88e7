"""Scenarios over several ranks on the stand-in device: every example runs, every pattern brings all to its peer."""
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

from e2e.result_schema import check

pytestmark = [pytest.mark.plain,
              pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')]
FOLDER = Path(__file__).resolve().parents[2] / 'scenarios'
EXAMPLES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob('*.json'))
SHORT = {'duration': 0.1, 'warmupTime': 0, 'endMargin': 0}


@pytest.fixture
def many(run, environment, library, tmp_path):
    """many(scenario, faults='') → the checked document of a run on devices double0 to double3, and the run itself."""
    def call(scenario, faults=''):
        path, file = tmp_path / 'result.json', tmp_path / 'scenario.json'
        file.write_text(json.dumps(scenario))
        cuda = ('--cuda_lib_path', library.parent / 'double' / 'cuda') if 'memoryType' in scenario else ()
        result = run('-f', file, '-j', path, *cuda, timeout=120,
                     env=environment(','.join(filter(None, ('devices=4', faults)))) | {'FABPERF_CUDA': 'gpus=2'})
        assert path.exists(), result
        return check(path.read_text()), result
    return call


def label(end):
    """As a result names an endpoint."""
    parts = [end['hostName'], end['deviceName'], None if end['cudaDeviceId'] is None else f'gpu{end["cudaDeviceId"]}']
    return ':'.join(part for part in parts if part)


def ways_of(plan):
    """Every directed pair of a plan, by test."""
    for connection in plan['connections']:
        pair = [label(connection[end]) for end in ('requestor', 'responder')]
        yield (plan['tests'][connection['test']]['testName'], *pair)
        if connection['bidirectional']:
            yield (plan['tests'][connection['test']]['testName'], *pair[::-1])


def compare(plan, document, result):
    """Each planned way is there once at each point or phase, each message sent arrived, what is compared is right."""
    times = {test['testName']: {'victim': 3, 'aggressor': 1}.get(test['role'], len(test['points']))
             for test in plan['tests']}
    ran = [(c['testName'], c['requestorEndpoint'], c['responderEndpoint']) for c in document['connections']]
    assert sorted(map(str, ran)) == sorted(str(way) for way in ways_of(plan) for _ in range(times[way[0]]))
    for connection in document['connections']:
        busy = 'no message completed' in (connection['error'] or '')  # the machine: it is there, but has no figure
        assert connection['status'] in ('ok', 'threshold') or busy, connection['error']
        loss, found = connection['loss'], connection['results']['validationResults']
        assert not loss or loss['sent'] == loss['received'] + loss['lost']
        assert not loss or busy or loss['sent'] > 0
        assert not loss or not loss['lost'] or connection['testConfig']['resourceConfig']['connectionType'] != 'RC'
        assert not found or found['validatedMessages'] > found['invalidDataSampleCount'] == 0
    assert result.rc in (0, 2) or 'no message completed' in result.stderr, result


def here(name, tmp_path):
    """A file of scenarios/ with this machine's ranks and the stand-in's devices, short."""
    def change(key, value):
        if isinstance(value, list) and key in ('testNodes', 'tests'):
            return [{k: change(k, v) for k, v in item.items()} for item in value]
        if key == 'hostName':
            return re.sub(r'\bnode(?=[\d[])', 'localhost%', value.replace('-dpu', '').replace('[1-8]', '[1-3]'))
        if key == 'deviceName':
            return re.sub('mlx5_|p(?=0)', 'double', value)
        if key == 'ptiniFile':
            small = tmp_path / value
            small.write_text(re.sub(r'\d{5,}', lambda n: str(int(n[0]) // 1024), (FOLDER / value).read_text()))
            return str(small)
        if key == 'mpiTcpNetworkInterfaces':
            return '127.0.0.0/8'
        return min(value, 20) if key == 'iterations' else 0.1 if key == 'reportInterval' else value
    document = {key: change(key, value) for key, value in json.loads((FOLDER / name).read_text()).items()}
    for test in document.get('tests', []) + [document]:
        in_step = test.get('iterationSync')
        for key in SHORT if not in_step else ():
            test.pop(key, None)
    if not any(test.get('iterationSync') for test in document.get('tests', [document])):
        roles = any('role' in test for test in document.get('tests', []))
        document |= SHORT | {'duration': 1 if 'reportInterval' in document else 0.3 if 'burst/' in name else 0.1}
        document |= {'warmupTime': 0.05, 'endMargin': 0.05} if roles else {}
    return document


@pytest.mark.parametrize('name', EXAMPLES)
def test_example(many, run, tmp_path, name):
    """It connects what its plan says, each message arrives, and what is compared is right."""
    scenario = here(name, tmp_path)
    plan = json.loads(run('plan', '-f', json.dumps(scenario), '--json').stdout)
    document, result = many(scenario)
    compare(plan, document, result)
    assert document['status'] != 'threshold' or 'thresholds' in name
    assert 'reportInterval' not in scenario or re.search(r'\[ +[01]\.\ds\]  \S+ Gb/s  \S+ Mpps\n', result.stderr)
    assert 'thresholds' not in name or document['aggregatedResults']['perTest'][0]['thresholdMissed']


def test_there_are_examples_of_all_kinds():
    """Every pattern and partition, both metrics, all that only a scenario has."""
    text = ''.join((FOLDER / name).read_text() for name in EXAMPLES)
    for word in ('ONE_TO_ONE', 'ONE_TO_MANY', 'incast', 'ALL_TO_ALL', 'BISECTION', 'RING', 'allreduce', 'RAILED', 'lat',
                 'BIDIR', 'DUAL_UNIDIR', 'iterationSync', 'dataValidation', 'peerShifting', 'ptiniFile', 'bwThreshold',
                 'cudaDeviceId', 'dpu', 'mlx5_[0,1]', 'msgSize": [', 'operations', 'reportInterval', 'aggressor'):
        assert word in text, word


SENDS = {  # which position sends to which of n
    'ONE_TO_ONE': lambda a, b, n: n == 2 and (a, b) == (0, 1),
    'ONE_TO_MANY': lambda a, b, n: a == 0 < b,
    'MANY_TO_ONE': lambda a, b, n: b == 0 < a,
    'ALL_TO_ALL': lambda a, b, n: a != b,
    'BISECTION': lambda a, b, n: n % 2 == 0 and b == a + n // 2,
    'RING': lambda a, b, n: b == (a + 1) % n,
}
KEEPS = {  # of positions as (host, device)
    'NONE': lambda a, b: True,
    'RAILED': lambda a, b: a[0] != b[0] and a[1] == b[1],
    'LOCAL': lambda a, b: a[0] == b[0],
    'REMOTE': lambda a, b: a[0] != b[0],
}


def wanted(pattern, direction, partition, hosts, devices):
    """The directed pairs of endpoints, each a (host, device), that there must be."""
    ends = list(itertools.product(range(hosts), range(devices)))
    pairs = {(a, b) for (i, a), (k, b) in itertools.product(enumerate(ends), repeat=2)
             if SENDS[pattern](i, k, len(ends)) and KEEPS[partition](a, b)}
    return pairs if direction == 'UNIDIR' else pairs | {(b, a) for a, b in pairs}


@pytest.mark.parametrize('hosts, devices, faults', [(2, 1, ''), (2, 2, ''), (3, 1, 'drop=2%'), (3, 2, ''), (4, 1, ''),
                                                    (4, 2, 'drop=2%')])
def test_every_pattern(many, run, fabric, hosts, devices, faults):
    """Every pattern, direction and partition that has connections, all at once: each directed pair that is wanted is
    there once, planned and run, and what its sender sent is what its receiver received; what a wire loses is lost."""
    kinds = {'/'.join(kind): pairs for kind in itertools.product(SENDS, ('UNIDIR', 'BIDIR', 'DUAL_UNIDIR'), KEEPS)
             if (pairs := wanted(*kind, hosts, devices))}
    tests = [dict(zip(('trafficPattern', 'trafficDirection', 'trafficPartition'), name.split('/')), testName=name)
             for name in kinds]
    scenario = {'testNodes': [{'hostName': f'localhost%[1-{hosts}]', 'deviceName': f'double[0-{devices - 1}]'}],
                'verb': 'send', 'connectionType': 'UC' if faults else 'RC', 'msgSize': 64, 'txDepth': 4, 'rxDepth': 8,
                'events': True, 'tests': tests} | SHORT
    plan = json.loads(run('plan', '-f', json.dumps(scenario), '--json').stdout)
    expected = [(name, *(f'localhost%{host + 1}:double{device}' for host, device in pair))
                for name, pairs in kinds.items() for pair in pairs]
    assert sorted(ways_of(plan)) == sorted(expected)
    document, result = many(scenario, faults)
    compare(plan, document, result)
    truth = [json.loads(path.read_text()) for path in fabric.glob('count-*.json')]
    for key, kinds in {'sent': ['sent'], 'received': ['delivered'], 'lost': ['dropped', 'unreceived']}.items():
        assert sum(c['loss'][key] for c in document['connections']) == sum(one[kind] for one in truth for kind in kinds)


def test_an_incast_whose_receiver_has_fewer_slots(many):
    """Three senders share the receiver's buffers; behind the volley each still writes to its own part of them."""
    scenario = {'testNodes': [{'hostName': 'localhost%[1-4]', 'deviceName': 'double0'}], 'trafficPattern': 'incast',
                'connectionType': 'UC', 'verb': 'write_imm', 'msgSize': '1M', 'workingSet': '24M', 'txDepth': 16,
                'rxDepth': 128, 'burstProfile': 'sync_burst', 'burstSize': 16, 'burstPause': 5, 'burstCount': 4}
    document, result = many(scenario | {'warmupTime': 0})
    assert result.rc == 0, result
    assert [c['loss']['lost'] for c in document['connections']] == [0, 0, 0]
    assert document['aggregatedResults']['perTest'][0]['bursts']['volley']['senders'] == 3


@pytest.mark.parametrize('pattern, words, faults', [
    ('ONE_TO_MANY', {'connectionType': 'UC', 'verb': 'write_imm', 'burstProfile': 'sync_burst', 'burstPause': 10},
     'drop=5%'),
    ('ALL_TO_ALL', {'connectionType': 'RC', 'verb': 'send', 'burstProfile': 'storage', 'rateLimit': '2M'}, ''),
])
def test_bursts_of_many_ranks_are_exact(many, fabric, pattern, words, faults):
    """Each burst that was sent has its messages for each peer, by the devices' own counts, and receivers see it."""
    document, _ = many({'testNodes': [{'hostName': 'localhost%[1-3]', 'deviceName': 'double[0-1]'}], 'numQps': 2,
                        'trafficPattern': pattern, 'msgSize': 64, 'burstSize': 7, 'burstCount': 20, 'warmupTime': 0}
                       | words, faults)
    test, storage = document['aggregatedResults']['perTest'][0], pattern == 'ALL_TO_ALL'
    bursts, peers = test['bursts'], 5  # 6 endpoints
    slots = 20 * (6 * peers * 2 if storage else 1)  # of a queue pair each; of a sender
    assert bursts['slots'] == slots == bursts['bursts'] + bursts['skippedSlots'] + bursts['fullSlots']
    assert bursts['messages'] == bursts['bursts'] * 7 * (1 if storage else 2 * peers)
    truth = [json.loads(path.read_text()) for path in fabric.glob('count-*.json')]
    sent, arrived, lost = (sum(one[kind] for one in truth for kind in kinds)
                           for kinds in (['sent'], ['delivered'], ['dropped', 'unreceived']))
    assert (test['sent'], test['received'], test['lost']) == (sent, arrived, lost) and sent == bursts['messages']
    came = bursts['arrivals'] or {'receivers': 0, 'bursts': 0}  # a busy machine, where all came behind the window
    assert lost == 0 if storage else came['receivers'] <= peers and came['bursts'] <= 20 * peers
