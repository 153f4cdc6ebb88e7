"""libfabric between two processes here: every verb over every kind of endpoint, and every count agrees."""
import os
import re
import signal
import time
from pathlib import Path

import pytest

from processes import SCALE, Process, kill

pytestmark = [pytest.mark.plain, pytest.mark.waits]

SHORT = ('-D', '0.5', '-w', '0')
ONE_SIDED = ('write', 'read', 'atomic_fa', 'atomic_cs')
VERBS = (*ONE_SIDED, 'write_imm', 'send')
NO_ATOMICS = ('write', 'write_imm', 'read', 'send')

# Endpoint, provider, verbs that it has here, and what a run is shaped like.
KINDS = [('RDM', 'shm', VERBS, ('-q', '2', '-N', '2')), ('RDM', 'tcp', VERBS, ('-q', '2')),
         ('MSG', 'tcp', NO_ATOMICS, ('-q', '3')), ('DGRAM', 'udp', ('send',), ('-q', '2'))]
LATENCY = [('RDM', 'shm', 'write'), ('RDM', 'shm', 'read'), ('RDM', 'shm', 'send'), ('RDM', 'tcp', 'write'),
           ('RDM', 'tcp', 'atomic_cs'), ('MSG', 'tcp', 'write_imm'), ('DGRAM', 'udp', 'send')]
ROWS = [(*kind[:2], verb, kind[3]) for kind in KINDS for verb in kind[2]]


@pytest.fixture
def measured(measure):
    """measured(*options) → the connection of a run; on a busy machine several until it has something."""
    def call(*options, **more):
        for _ in range(6):
            results = measure('-r', 'ofi', *options, **more)['connections'][0]
            assert results['status'] == 'ok'
            if results['results']['latResults'] or (results['results']['bwResults'] or {}).get('messages'):
                return results
        return pytest.fail(f'nothing was measured in 6 runs: {results["remarks"]}')
    return call


def total(results, side, field):
    return sum(row[field] or 0 for row in results['resultsPerProcess'] if row['side'] == side)


@pytest.mark.parametrize('transport, provider, verb, shape', ROWS)
def test_bandwidth(measured, transport, provider, verb, shape):
    size = () if verb.startswith('atomic') else ('-s', '1K')
    results = measured('-c', transport, '-d', provider, '-v', verb, *size, *shape, *SHORT)
    sent, received = total(results, 'requestor', 'totalSent'), total(results, 'responder', 'totalReceived')
    assert sent > 0
    if verb in ONE_SIDED:
        assert received == 0 and results['loss'] is None
    else:
        assert results['loss']['sent'] == sent == received + results['loss']['lost']
        assert results['loss']['lost'] == 0 or transport == 'DGRAM'
    if verb == 'atomic_fa' and '-N' not in shape:
        assert int(results['responder']['facts']['counterSum']) == sent
    assert results['requestor']['facts']['device'].split(';')[0] == provider


@pytest.mark.parametrize('transport, provider, verb', LATENCY)
def test_latency(measured, transport, provider, verb):
    words = ('-c', transport, '-d', provider, '-v', verb, '-m', 'lat', '-q', '2', *SHORT)
    latency = measured(*words)['results']['latResults']
    assert latency['halved'] == (verb in ('write', 'write_imm', 'send'))
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['p99Usec'] <= latency['maxUsec']


def test_injected_sends_are_counted(measured):
    """Without a completion each, over queue pairs that take turns: as many sent and answered as asked for."""
    results = measured('-d', 'shm', '-v', 'send', '-m', 'lat', '-q', '3', '-s', '8', '-i', '67', '-w', '0')
    assert results['results']['latResults']['samples'] == 3 * 67
    assert all('injected' in results[side]['facts'] for side in ('requestor', 'responder'))
    assert total(results, 'requestor', 'totalSent') == total(results, 'responder', 'totalReceived') == 3 * 67


def test_one_way_ends_with_a_completion(measured):
    """No answer comes, so that the send itself must tell: none is injected."""
    results = measured('-d', 'shm', '-v', 'send', '-m', 'lat', '--lat_mode', 'one_way', '-s', '8', '-i', '67',
                       '-w', '0')
    assert results['results']['latResults']['samples'] == 67
    assert not any('injected' in results[side]['facts'] for side in ('requestor', 'responder'))


@pytest.mark.parametrize('provider', ['shm', 'tcp', 'udp'])
@pytest.mark.parametrize('count', [1, 203])
def test_each_atomic_adds_one(measured, provider, count):
    words = ('-d', provider, '-v', 'atomic_fa', '-i', count, '-w', '0', '-q', '2')
    results = measured(*words)
    assert total(results, 'requestor', 'totalSent') == 2 * count
    assert results['responder']['facts']['counterSum'] == str(2 * count)


@pytest.mark.parametrize('options', [
    ('-c', 'MSG', '-v', 'send'), ('-d', 'shm', '-v', 'write_imm', '-s', '8'), ('-d', 'tcp', '-v', 'write', '-s', '1M'),
    ('-d', 'shm', '-v', 'send', '-t', '1', '--rx_depth', '1', '--post_batch', '1', '-s', '1'),
])
def test_iterations_are_sent_exactly(measured, options):
    results = measured(*options, '-i', '307', '-w', '0', '-q', '2')
    assert total(results, 'requestor', 'totalSent') == results['requestor']['bwResults']['messages'] == 614


OPERATIONS = 'write:64Ki,send:4Ki,atomic_fa:8,read:1000,write_imm:77,write_imm:500,atomic_cs:8,atomic_fa:8'


@pytest.mark.parametrize('options, operations', [
    (('-d', 'tcp', '-q', '2'), OPERATIONS), (('-d', 'shm', '-q', '2', '-t', '5'), OPERATIONS),
    (('-d', 'udp', '-t', '5'), 'write_imm:100,atomic_fa:8,atomic_fa:8,read:9'),
    (('-d', 'tcp', '-c', 'MSG'), 'read:70000,send:1,write_imm:9'), (('-d', 'shm',), 'send:64,write_imm:4Ki,send:1Ki'),
])
def test_each_operation_is_done_as_often(measured, options, operations):
    """They complete in any order, a read behind sends that were posted later."""
    results = measured('--operations', operations, *options, '-i', '120', '-w', '0')
    count = 120 * (int(options[options.index('-q') + 1]) if '-q' in options else 1)
    rows = results['results']['operations']
    assert [row['messages'] for row in rows] == [count] * (operations.count(',') + 1)
    assert sum(row['bytes'] for row in rows) == results['requestor']['bwResults']['bytes']
    if 'atomic_fa' in operations:
        assert results['responder']['facts']['counterSum'] == str(2 * count) and results['countedBy'] == 'requestor'
    if 'read' not in operations:  # the responder is told of all, each with its size
        assert results['responder']['bwResults']['bytes'] == sum(row['bytes'] for row in rows)


def test_operations_by_time_are_counted_one_by_one(measured):
    results = measured('--operations', 'read:64Ki,send:8,write:4Ki', '-d', 'tcp', *SHORT)
    rows = results['results']['operations']
    depth = 128  # they may be apart by what is under way at an edge
    assert max(row['messages'] for row in rows) - min(row['messages'] for row in rows) <= 2 * depth
    assert sum(row['bytes'] for row in rows) == results['results']['bwResults']['bytes']
    assert sum(row['messages'] for row in rows) == results['results']['bwResults']['messages']


@pytest.mark.parametrize('options', [('-v', 'send', '-m', 'lat'), ('-v', 'read', '-c', 'MSG'), ('-v', 'write')])
def test_sleeping(measured, options):
    results = measured('-d', 'tcp', '--events', 'on', *options, *SHORT)
    assert 'sleeping' in results['requestor']['facts']['completionMode']


def test_default_without_an_rdma_device(run, free_port):
    """Nothing but a host: shared memory here, said in one line; where there is an RDMA device that is taken."""
    if list(Path('/sys/class/infiniband').glob('*')):
        pytest.skip('this machine has an RDMA device')
    result = run('-n', 'localhost', '--port', free_port(), '-D', '0.5', '-w', '0')
    assert result.rc == 0, result
    assert re.search(r"^fabperf: no RDMA device here: running over libfabric's shm provider .*$", result.stderr, re.M)
    assert 'RDM write' in result.stdout


@pytest.mark.parametrize('options, sentence', [
    (('-r', 'ofi', '-d', 'nowhere'), r'no provider nowhere on this host; it offers: .*shm'),
    (('-d', 'nowhere'), '-d nowhere is no RDMA device and no libfabric provider of this host'),
    (('-r', 'ofi', '-d', 'tcp:nowhere'), 'provider tcp has no domain nowhere on this host'),
    (('-c', 'MSG', '-d', 'shm'), 'provider shm does not offer write over MSG endpoints on this host'),
    (('-c', 'MSG', '-v', 'atomic_fa'), 'provider tcp does not offer atomic_fa over MSG endpoints'),
    (('-r', 'ofi', '-c', 'RC'), '-c RC does not go with -r ofi, which takes -c RDM, MSG or DGRAM'),
    (('-c', 'DGRAM', '-v', 'write'), '-v write does not go with -c DGRAM, which takes -v send'),
    (('-r', 'ofi', '-d', 'shm', '--events', 'on'), "events has no effect with libfabric's provider shm"),
    (('-c', 'DGRAM', '-s', '64K'), 'msg_size 65536: the ofi device sends at most'),
    (('-r', 'ofi', '-d', 'shm', '-t', '30000'), 'tx_depth 30000: the device takes at most'),
    (('-d', 'tcp', '--operations', 'send:8,read:8', '-H'), 'they complete in any order'),
    (('-c', 'MSG', '-d', 'tcp', '--operations', 'send:8,atomic_fa:8'), 'not offer all of these operations over MSG'),
    (('-r', 'ofi', '-d', 'tcp', '-q', '8192', '-s', '64'), r'each endpoint of .*tcp.* takes .* ask for fewer'),
])
def test_refusals(run, free_port, options, sentence):
    result = run('-n', 'localhost', '--port', free_port(), *SHORT, *options)
    assert result.rc == 1 and re.search(sentence, result.stderr), result


def test_a_filter_of_providers_is_named(run, free_port):
    words = ('-n', 'localhost', '--port', free_port(), '-r', 'ofi', '-d', 'tcp', *SHORT)
    result = run(*words, env={'FI_PROVIDER': 'udp'})
    assert result.rc == 1 and 'it offers: udp (FI_PROVIDER=udp)' in result.stderr, result


@pytest.mark.parametrize('sig, sentence', [(signal.SIGKILL, 'closed the control connection'),
                                           (signal.SIGSTOP, 'has been silent')])
@pytest.mark.parametrize('provider, verb, victim', [
    ('shm', 'read', 'client'), ('shm', 'write', 'server'), ('tcp', 'send', 'server'), ('tcp', 'write', 'client'),
])
def test_a_peer_that_vanishes_is_named(serve, start, sig, sentence, provider, verb, victim):
    """Killed or stopped in the midst of traffic, perhaps with a lock held: the other side ends within 5 s."""
    server, port = serve()
    client = start('-n', 'localhost', '--port', port, '--launch_server', 'off', '-r', 'ofi', '-d', provider, '-v', verb,
                   '-w', '0', '-D', '60', '-R', '0.2')
    client.until('Gb/s', 'stderr', timeout=20)
    child = int(Path(f'/proc/{server.pid}/task/{server.pid}/children').read_text().split()[0])
    begun = time.monotonic()
    os.kill(client.pid if victim == 'client' else child, sig)
    survivor = server if victim == 'client' else client
    try:
        survivor.until(sentence, 'stderr', timeout=8)
        assert time.monotonic() - begun < 5 * SCALE + 1
    finally:
        kill([client.pid if victim == 'client' else child])


SHM = ('-n', 'localhost', '-r', 'ofi', '-d', 'shm', '-v', 'write', '-w', '0')
SMALL = 'mount -t tmpfs -o size=48m tmpfs /dev/shm || exit 77; exec "$0" "$@"'


def files(pid):
    return list(Path('/dev/shm').glob(f'fabperf-*-{pid}:*'))


def test_a_full_shm_is_one_sentence(fabperf, free_port):
    """Not SIGBUS: neither where the provider is missing for want of room nor where it ends amid the endpoints."""
    words = ('--port', free_port(), '-D', '0.1', '-q', '16')
    process = Process(['unshare', '--mount', 'sh', '-c', SMALL, fabperf, *SHM, *words], program=fabperf)
    result = process.wait()
    if result.rc == 77 or 'unshare' in result.stderr:
        pytest.skip('only root can mount a /dev/shm')
    sentence = r"fabperf: .*libfabric.* provider shm .* are( free)?: enlarge it .*-d tcp\n"
    assert result.rc == 1 and re.fullmatch(sentence, result.stderr), result


def test_files_of_the_dead_are_removed(start, free_port):
    """A killed client leaves its files, by its number: the next one takes them away. Ctrl-C leaves none."""
    killed = start(*SHM, '--port', free_port(), '-D', '60', '-R', '0.2')
    killed.until('Gb/s', 'stderr', timeout=20)
    assert files(killed.pid)
    kill([killed.pid])
    killed.popen.wait()  # a zombie still has its number
    stopped = start(*SHM, '--port', free_port(), '-D', '60', '-q', '100')
    deadline = time.monotonic() + 20 * SCALE
    while not files(stopped.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not files(killed.pid)
    result = stopped.stop(signal.SIGINT)
    assert result.rc == 130 and 'fabperf: interrupted' in result.stderr and not files(stopped.pid), result
