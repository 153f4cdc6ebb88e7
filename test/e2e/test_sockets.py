"""TCP and UDP between two processes here: whatever the options, nothing is lost unnoticed and every count agrees."""
import subprocess

import pytest

from processes import SCALE

pytestmark = pytest.mark.waits
SIZES = {'TCP': ['1', '3', '64', '1000', '64K', '1048577'], 'UDP': ['1', '3', '64', '1000', '8K', '65507']}
SHORT = ('-D', '0.2', '-w', '0')
TIMEOUT_S = 30

# One row a run: queue pairs, workers, and what else is asked for; the rows go through the hosts in turn.
SHAPES = [(1, 1, ()), (3, 1, ('--events', 'off')), (1, 2, ('--events', 'on')), (3, 2, ())]
HOSTS = ['127.0.0.1', '::1', 'localhost']


def rows():
    """Each transport with each metric and size, on a host and in a shape that change from row to row."""
    for transport, sizes in SIZES.items():
        for metric in ('bw', 'lat'):
            for number, size in enumerate(sizes):
                qps, workers, options = SHAPES[(number + (metric == 'lat')) % len(SHAPES)]
                yield transport, metric, size, HOSTS[number % len(HOSTS)], qps, workers, options


@pytest.fixture
def measured(measure):
    """measured(*options) → the connection of a run; on a busy machine several until both sides had their window."""
    def call(*options, **more):
        for _ in range(6):
            results = measure(*options, **more)['connections'][0]
            assert results['status'] == 'ok'
            if results['results']['latResults'] or (results['results']['bwResults'] or {}).get('messages'):
                return results
        pytest.fail(f'nothing was measured in 6 runs: {results["remarks"]}')
    return call


def check_duplicates(results):
    """Datagrams too small for a number are counted but not told apart."""
    numbered = results['testConfig']['resourceConfig']['operations'][0]['msgSize'] >= 4
    assert results['loss']['duplicated'] == (0 if numbered else None)


def check_counts(results, transport):
    """Of a bandwidth run: sent is received, or received and lost."""
    loss = results['loss']
    assert loss['sent'] == loss['received'] + loss['lost']
    assert loss['received'] > 0
    if transport == 'TCP':
        assert loss['lost'] == 0
    else:
        check_duplicates(results)
    for side, total in (('requestor', 'totalSent'), ('responder', 'totalReceived')):
        workers = [row[total] for row in results['resultsPerProcess'] if row['side'] == side]
        assert sum(workers) == loss['sent' if side == 'requestor' else 'received']
    assert results['results']['bwResults']['messages'] <= loss['received']


def check_latency(results):
    latency = results['results']['latResults']
    assert latency['samples'] > 0 and latency['halved']
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['p99Usec'] <= latency['maxUsec']
    assert latency['maxUsec'] <= 1e6 * 10 * SCALE  # half of a round trip, and no sample is longer than the run


@pytest.mark.parametrize('transport, metric, size, host, qps, workers, options', rows())
def test_sizes(measured, transport, metric, size, host, qps, workers, options):
    words = ('-c', transport, '-m', metric, '-s', size, '-q', qps, '-N', workers, *SHORT, *options)
    results = measured(*words, host=host, timeout=TIMEOUT_S)
    assert [row['numQps'] for row in results['resultsPerProcess']] == [qps] * (2 * workers)
    if metric == 'bw':
        check_counts(results, transport)
    else:
        check_latency(results)


@pytest.mark.parametrize('transport, options', [
    ('UDP', ('--gso', 'on', '-s', '64')), ('UDP', ('--gso', 'off', '-s', '64')),
    ('UDP', ('--gso', 'off', '-s', '1472', '-q', '3')), ('UDP', ('--gso', 'on', '-s', '1')),
    ('UDP', ('--sock_buf', '16K')), ('UDP', ('--post_batch', '1')), ('UDP', ('--post_batch', '1024', '-s', '64')),
    ('UDP', ('-s', '65507', '--sock_buf', '256K')), ('TCP', ('--sock_buf', '4K')),
    ('TCP', ('--sock_buf', '4K', '-s', '64K')),
    ('TCP', ('--zerocopy', 'on')), ('TCP', ('--post_batch', '1', '-s', '1')),
    ('TCP', ('--post_batch', '7', '-s', '100')),
    ('TCP', ('--working_set', '1M', '-s', '64K')), ('TCP', ('-s', '16M')), ('TCP', ('-q', '40', '-s', '4K')),
    ('UDP', ('-q', '40', '-s', '4K')), ('TCP', ('--end_margin', '100ms', '-R', '100ms')), ('UDP', ('-w', '0.1')),
])
def test_options(measured, transport, options):
    short = ('-D', '0.2') if '-w' in options else SHORT
    check_counts(measured('-c', transport, *short, *options, timeout=TIMEOUT_S), transport)


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
@pytest.mark.parametrize('options', [
    ('--events', 'on'), ('--events', 'off'), ('-q', '3', '-N', '2'), ('--sock_buf', '4K'),
])
@pytest.mark.tsan
def test_latency_options(measured, transport, options):
    check_latency(measured('-c', transport, '-m', 'lat', *SHORT, *options, timeout=TIMEOUT_S))


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
@pytest.mark.parametrize('options', [
    ('-s', '1'), ('-s', '1000', '-q', '3', '-N', '2'), ('--events', 'off', '-s', '8K'),
])
@pytest.mark.parametrize('iterations', [1, 7, 1003])
def test_iterations_are_sent_exactly(measured, transport, options, iterations):
    results = measured('-c', transport, '-w', '0', '-i', iterations, *options, timeout=TIMEOUT_S)
    wanted = iterations * (6 if '-N' in options else 1)
    assert results['loss']['sent'] == wanted
    assert results['requestor']['bwResults']['messages'] == wanted
    if transport == 'TCP':
        assert results['results']['bwResults']['messages'] == wanted
        assert (results['loss']['received'], results['loss']['lost']) == (wanted, 0)
    else:
        assert results['loss']['received'] + results['loss']['lost'] == wanted
        check_duplicates(results)


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
@pytest.mark.tsan
def test_latency_iterations(measured, transport):
    """On a loop-back interface nothing is lost with one message under way."""
    words = ('-c', transport, '-m', 'lat', '-i', '300', '-q', '2', '-w', '0')
    results = measured(*words, timeout=TIMEOUT_S)['results']['latResults']
    assert (results['samples'], results['unanswered']) == (600, 0)


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
def test_warm_up_iterations(measured, transport):
    words = ('-c', transport, '-i', '500', '--warmup_iterations', '37', '-q', '2')
    results = measured(*words, timeout=TIMEOUT_S)
    assert results['loss']['sent'] == 2 * 537
    assert results['requestor']['bwResults']['messages'] == 2 * 500


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
@pytest.mark.parametrize('host', ['127.0.0.1', '::1'])
def test_data_port(measured, free_port, transport, host):
    """Twice on the same ports: the first run leaves them usable."""
    port = free_port()
    for _ in range(2):
        words = ('-c', transport, '-q', '2', '-N', '2', '--data_port', port, *SHORT)
        check_counts(measured(*words, host=host, timeout=TIMEOUT_S), transport)


@pytest.mark.parametrize('mode', ['on', 'off'])
def test_what_was_used_is_named(measured, mode):
    """Offload and completion mode stand in the document of both sides."""
    results = measured('-c', 'UDP', '-s', '64', '--gso', mode, '--events', mode, *SHORT, timeout=TIMEOUT_S)
    config = results['testConfig']['resourceConfig']
    assert config['connectionType'] == 'UDP' and config['events'] == mode
    for side in ('requestor', 'responder'):
        facts = results[side]['facts']
        assert ('sleeping' in facts['completionMode']) == (mode == 'on')
        offloads = [value for key, value in facts.items() if 'gso' in key.lower() or 'gro' in key.lower()]
        assert offloads, facts


@pytest.mark.parametrize('size, sent', [('100', 100), ('1M', 1 << 20)])
def test_tcp_moves_as_many_bytes_as_it_says(measured, size, sent):
    """Two windows of twice the length hold the same rate only if bytes, messages and time fit together."""
    results = measured('-c', 'TCP', '-s', size, '-D', '0.4', '-w', '0', timeout=TIMEOUT_S)
    figures = results['results']['bwResults']
    assert figures['bytes'] == figures['messages'] * sent
    assert figures['bwGbSec'] == pytest.approx(figures['bytes'] * 8 / figures['durationSec'] / 1e9, rel=1e-6)
    assert figures['durationSec'] < 0.4 + 0.3 * SCALE


@pytest.mark.parametrize('options, wakes', [
    ((), 262144), (('-q', '4'), 262144), (('-q', '5'), None), (('--sock_buf', '64K'), None),
    (('--events', 'off'), None), (('-i', '200', '-w', '0'), None), (('-m', 'lat'), None),
])
def test_a_stream_wakes_its_receiver_late_only_where_no_count_changes(measured, options, wakes):
    length = () if '-i' in options else SHORT
    results = measured('-c', 'TCP', *length, *options, timeout=TIMEOUT_S)
    assert results['responder']['facts'].get('wakeBytes') == wakes
    if '-m' not in options:
        check_counts(results, 'TCP')


def test_a_trickle_is_counted_whole(measured):
    """Much less than the receiver is woken for: what the kernel holds is taken at the edges and at the end."""
    results = measured('-c', 'TCP', '-s', '100', '-D', '0.3', '-w', '0', '--post_batch', '1', timeout=TIMEOUT_S)
    check_counts(results, 'TCP')
    assert results['responder']['facts']['wakeBytes'] == 262144


def test_too_few_files_are_named_at_once(fabperf, free_port):
    words = [str(word) for word in (fabperf, '-n', 'localhost', '--port', free_port(), '-c', 'TCP', '-q', 100, *SHORT)]
    ended = subprocess.run(['bash', '-c', 'ulimit -n 64; exec "$@"', 'bash', *words], capture_output=True, text=True,
                           timeout=5 * SCALE, check=False)
    assert ended.returncode == 1 and not ended.stdout
    assert ended.stderr.endswith("the test needs 124 open files and this process may have 64: raise the hard limit "
                                 "with 'ulimit -Hn' or ask for fewer --qps\n") and ended.stderr.count('\n') == 1


@pytest.mark.parametrize('transport, host, asked', [('TCP', '127.0.0.1', 32), ('UDP', '::1', 33), ('TCP', '::1', 252)])
def test_traffic_class(measured, transport, host, asked):
    """On both sides, read back from the kernel: TCP leaves the ECN bits to itself."""
    results = measured('-c', transport, '--traffic_class', asked, '--control_traffic_class', '64', *SHORT, host=host,
                       timeout=TIMEOUT_S)
    assert [results[side]['facts']['trafficClass'] for side in ('requestor', 'responder')] == [asked, asked]
