"""Soft-RoCE: every legal transport, verb and metric works, both sides' counts agree, what was used is reported."""
import json
import subprocess

import pytest

VERBS = {
    'RC': ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs'),
    'UC': ('write', 'write_imm', 'send'),
    'UD': ('send',),
}
LEGAL = [(connection, verb) for connection, verbs in VERBS.items() for verb in verbs]
TWO_SIDED = ('write_imm', 'send')


@pytest.fixture
def rxe(run):
    """rxe('-c', 'RC', …) → the connection of the result of a short run between two processes on rxe0."""
    def call(*words):
        result = run('-n', 'localhost', '-d', 'rxe0', '-w', '0', '--print_json_results', *words, timeout=120)
        assert (result.rc, result.stderr) == (0, '')
        document = json.loads(result.stdout)
        assert document['status'] == 'ok'
        return document['connections'][0]
    return call


def total(connection, key):
    return sum(worker[key] or 0 for worker in connection['resultsPerProcess'])


@pytest.mark.parametrize('connection, verb', LEGAL)
def test_bandwidth(rxe, connection, verb):
    size = '8' if verb.startswith('atomic') else '1024'
    got = rxe('-c', connection, '-v', verb, '-m', 'bw', '-s', size, '-i', '300', '-q', '2')
    assert total(got, 'totalSent') >= 600
    if verb in TWO_SIDED:
        assert got['loss']['sent'] == got['loss']['received'] + got['loss']['lost']
        assert got['loss']['received'] == total(got, 'totalReceived')
        assert got['loss']['lost'] == 0 or connection != 'RC'


@pytest.mark.parametrize('connection, verb', LEGAL)
def test_latency(rxe, connection, verb):
    latency = rxe('-c', connection, '-v', verb, '-m', 'lat', '-s', '8', '-i', '100')['results']['latResults']
    assert latency['samples'] == 100
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['maxUsec']


@pytest.mark.parametrize('connection, verb', [('RC', 'send'), ('UD', 'send'), ('RC', 'read'), ('UC', 'write_imm')])
def test_events(rxe, connection, verb):
    got = rxe('-c', connection, '-v', verb, '-m', 'lat', '-s', '8', '-i', '50', '--events', 'on')
    assert got['results']['latResults']['samples'] == 50
    assert got['requestor']['facts']['completionMode'].startswith('events')


@pytest.mark.parametrize('api, name', [('on', 'ibv_wr_*'), ('off', 'ibv_post_send')])
@pytest.mark.parametrize('connection, verb, inline', [('RC', 'write', '64'), ('UC', 'send', '0'), ('UD', 'send', '64')])
def test_posting_calls(rxe, api, name, connection, verb, inline):
    got = rxe('-c', connection, '-v', verb, '-m', 'bw', '-s', '64', '-i', '200', '--wr_api', api,
              '--inline_size', inline)
    facts = got['requestor']['facts']
    assert (facts['postApi'], facts['inlineSize']) == (name, int(inline))
    assert total(got, 'totalSent') >= 200


@pytest.mark.parametrize('connection, verb', [('RC', 'write'), ('RC', 'send'), ('UD', 'send')])
def test_rdma_cm(rxe, connection, verb):
    got = rxe('-c', connection, '-v', verb, '-m', 'bw', '-s', '512', '-i', '100', '-q', '4', '--rdma_cm', 'on')
    assert got['requestor']['facts']['connection'] == 'rdma_cm'
    assert total(got, 'totalSent') >= 400


def test_knobs_are_read_back(rxe):
    knobs = {'mtu': 512, 'traffic_class': 32, 'flow_label': 77, 'qp_timeout': 16, 'retry_count': 5, 'rnr_retry': 4,
             'min_rnr_timer': 7, 'max_rd_atomic': 4, 'start_psn': 0xabcdef}
    words = [word for key, value in knobs.items() for word in (f'--{key}', str(value))]
    facts = rxe('-v', 'read', '-m', 'bw', '-s', '4096', '-i', '50', *words)['requestor']['facts']
    used = {'mtu': 'mtu', 'traffic_class': 'trafficClass', 'flow_label': 'flowLabel', 'qp_timeout': 'qpTimeout',
            'retry_count': 'retryCount', 'rnr_retry': 'rnrRetry', 'min_rnr_timer': 'minRnrTimer',
            'max_rd_atomic': 'maxRdAtomic', 'start_psn': 'psn'}
    assert {key: facts[name] for key, name in used.items()} == knobs
    assert 'notTaken' not in facts


def test_knobs_that_are_not_taken_are_named(rxe):
    """Soft-RoCE has no service levels, and the kernel takes the hop limit from the route."""
    facts = rxe('-v', 'write', '-m', 'bw', '-s', '64', '-i', '50', '--service_level', '3', '--hop_limit',
                '9')['requestor']['facts']
    assert (facts['serviceLevel'], facts['hopLimit']) == (0, 64)
    assert facts['notTaken'] == '--service_level 3, --hop_limit 9'


def test_gid_is_ipv4_by_default(rxe):
    facts = rxe('-v', 'write', '-m', 'bw', '-s', '64', '-i', '50')['requestor']['facts']
    assert (facts['gid'], facts['gidType'], facts['device'], facts['mtu']) == ('10.1.0.1', 'RoCE v2', 'rxe0', 4096)


def test_gid_that_was_asked_for(rxe):
    facts = rxe('-v', 'write', '-m', 'bw', '-s', '64', '-i', '50', '--gid_index', '0')['requestor']['facts']
    assert facts['gidIndex'] == 0 and facts['gid'].startswith('fe80::')


@pytest.mark.parametrize('words, sentence', [
    (('-c', 'UD', '-v', 'send', '-s', '4097'), 'at most 4096'),
    (('-s', '64', '--gid_index', '200'), '--gid_index 200 of rxe0 is empty; it has: 0 (fe80::'),
    (('-v', 'send', '-s', '64', '-q', '100', '--rx_depth', '512'), 'completion queue'),
    (('-v', 'read', '--max_rd_atomic', '255'), 'rxe0'),
    (('-s', '64', '--inline_size', '1024'), 'rxe0'),
    (('-c', 'UC', '-v', 'send', '--rdma_cm', 'on'), 'rdma_cm'),
    (('--use_ece',), 'RDMA device rxe0 has no enhanced connection establishment'),
    (('--ph', '1'), 'rxe0'),
    (('-d', 'rxe7'), 'rxe7'),
    (('-c', 'UC', '-v', 'read'), 'read'),
    (('-c', 'UD', '-v', 'write'), 'write'),
])
def test_refusals(run, words, sentence):
    device = () if '-d' in words else ('-d', 'rxe0')
    result = run('-n', 'localhost', '-i', '100', '-w', '0', *device, *words, timeout=120)
    assert (result.rc, result.stdout) == (1, '')
    assert sentence in result.stderr and result.stderr.count('\n') == 1


def test_locked_memory_limit(fabperf):
    """A user who may lock 64 KiB gets the limit and the remedy, not 'cannot allocate memory'."""
    result = subprocess.run(
        ['prlimit', '--memlock=65536', 'setpriv', '--reuid=65534', '--clear-groups', '--bounding-set=-all',
         '--inh-caps=-all', fabperf, '-n', 'localhost', '-d', 'rxe0', '-i', '10', '-w', '0'],
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == 1
    assert 'ulimit -l' in result.stderr
