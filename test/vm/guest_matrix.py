"""Soft-RoCE, all there is: counts to the message for odd depths and sizes, documents that hold, refusals, ends."""
import os
import re
import signal
import time

import pytest

from e2e.result_schema import check
from processes import SCALE

VERBS = {'RC': ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs'), 'UC': ('write', 'write_imm', 'send'),
         'UD': ('send',)}
ALL = VERBS['RC']
LEGAL = [(transport, verb) for transport, verbs in VERBS.items() for verb in verbs]
ILLEGAL = [(transport, verb) for transport, verbs in VERBS.items() for verb in ALL if verb not in verbs]
TIMEOUT_S = 60
IPV4_OR_IPV6 = r'10\.1\.0\.1|fd00:10:1::1'


@pytest.fixture
def rxe(run, free_port):
    """rxe(*options) → the checked connection of a run between two processes on rxe0."""
    def call(*options, host='localhost'):
        words = ('-n', host, '--port', free_port(), '-d', 'rxe0', '--print_json_results', *options)
        result = run(*words, timeout=TIMEOUT_S)
        assert (result.rc, result.stderr) == (0, ''), result
        document = check(result.stdout)
        assert document['status'] == 'ok'
        return document['connections'][0]
    return call


@pytest.fixture
def refused(run, free_port):
    """refused(*options) → the sentence of a run that fails with nothing else."""
    def call(*options):
        words = ('-d', 'rxe0', '-i', '10', '-w', '0', *options)
        result = run('-n', 'localhost', '--port', free_port(), '--print_json_results', *words, timeout=TIMEOUT_S)
        document = check(result.stdout)
        assert (result.rc, document['status'], result.stderr.count('\n')) == (1, 'failed', 1), result
        assert not any(document['connections'][0]['results'].values())
        return document['error']
    return call


def options_of(transport, verb, size='1K'):
    return ('-c', transport, '-v', verb, *(() if verb.startswith('atomic') else ('-s', size)))


def check_bandwidth(connection, transport, verb):
    """Whatever ended the run: what was sent arrived or is counted as lost."""
    figures = connection['requestor']['bwResults']
    assert figures['messages'] > 0
    if verb in ('write_imm', 'send'):
        loss = connection['loss']
        assert loss['received'] + loss['lost'] == loss['sent'] >= figures['messages']
        assert loss['lost'] == 0 or transport != 'RC'
    assert connection['countedBy'] == ('requestor' if transport == 'RC' or verb == 'write' else 'responder')
    return figures


# --- the matrix ---

@pytest.mark.parametrize('transport, verb', [
    ('RC', 'write'), ('RC', 'send'), ('RC', 'atomic_fa'), ('UC', 'write_imm'), ('UD', 'send'),
])
def test_bandwidth_by_time(rxe, transport, verb):
    """Warm-up, window and drain; the document's rate is messages by size by time."""
    connection = rxe(*options_of(transport, verb), '-D', '0.3', '-w', '0.1', '-t', '32')
    figures = check_bandwidth(connection, transport, verb)
    assert figures['durationSec'] > 0.2
    per_second = figures['messages'] * (8 if verb.startswith('atomic') else 1024) / figures['durationSec']
    assert figures['bwGbSec'] == pytest.approx(per_second * 8 / 1e9, rel=1e-3)


@pytest.mark.parametrize('transport, verb, events', [
    (*legal, ('on', 'off')[number % 2]) for number, legal in enumerate(LEGAL)
])
def test_latency_of_two_queue_pairs(rxe, transport, verb, events):
    words = ('-m', 'lat', '-i', '30', '-q', '2', '-w', '0', '--events', events)
    connection = rxe(*options_of(transport, verb, '8'), *words)
    latency = connection['results']['latResults']
    assert latency['samples'] == 60
    assert latency['unanswered'] == 0 or transport != 'RC'
    assert latency['halved'] == (verb in ('write', 'write_imm', 'send'))
    sleeps = 'events' in connection['requestor']['facts']['completionMode']
    assert sleeps == (events == 'on')


@pytest.mark.parametrize('transport, verb', ILLEGAL)
@pytest.mark.parametrize('metric', ['bw', 'lat'])
def test_illegal_combinations_name_the_legal_ones(refused, transport, verb, metric):
    sentence = refused('-c', transport, '-v', verb, '-m', metric)
    assert f'-v {verb}' in sentence and f'-c {transport}' in sentence
    for legal in VERBS[transport]:
        assert legal in sentence.split('which takes')[1]


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
def test_sockets_are_no_verbs(refused, transport):
    sentence = refused('-c', transport, '-r', 'ibv')
    assert 'RC, UC, UD, XRC or DC' in sentence


@pytest.mark.parametrize('transport, reason', [('XRC', 'has no XRC'), ('DC', 'has no DC, which only mlx5')])
def test_soft_roce_lacks_it(refused, transport, reason):
    sentence = refused('-c', transport)
    assert f'RDMA device rxe0 {reason}' in sentence and 'use -c RC' in sentence


# --- counts ---

@pytest.mark.parametrize('transport, verb, qps, depth, batch, step, iterations', [
    ('RC', 'send', 1, 1, 1, 1, 50), ('RC', 'write', 1, 83, 3, 7, 301), ('RC', 'send', 3, 83, 16, 5, 100),
    ('RC', 'write', 5, 12, 1, 12, 100), ('UD', 'send', 5, 12, 3, 1, 77), ('RC', 'read', 2, 128, 16, 128, 200),
    ('RC', 'send', 16, 2, 2, 1, 31), ('UC', 'write_imm', 5, 12, 1, 12, 99), ('RC', 'write', 64, 8, 4, 8, 17),
    ('UD', 'send', 64, 8, 4, 8, 17), ('UD', 'send', 1, 1000, 7, 14, 1003), ('RC', 'atomic_cs', 2, 12, 5, 10, 33),
])
def test_messages_are_as_many_as_asked_for(rxe, transport, verb, qps, depth, batch, step, iterations):
    words = ('-q', qps, '-t', depth, '--post_batch', batch, '--cq_mod', step, '-i', iterations, '-w', '0')
    words += ('--rx_depth', '64') if verb in ('send', 'write_imm') else ()
    connection = rxe(*options_of(transport, verb, '64'), *words)
    figures = check_bandwidth(connection, transport, verb)
    assert figures['messages'] == qps * iterations
    if transport == 'RC' and verb == 'send':
        assert connection['responder']['bwResults']['messages'] == qps * iterations


@pytest.mark.parametrize('operations, transport, qps', [
    ('write:65536,send:4096,atomic_fa:8', 'RC', 1), ('read:3000,write_imm:100,atomic_cs:8,send:1,write:7', 'RC', 3),
    ('write:100,send:64,write_imm:999', 'UC', 2), ('send:1000,send:4', 'UD', 1),
])
def test_each_operation_is_done_as_often(rxe, operations, transport, qps):
    connection = rxe('--operations', operations, '-c', transport, '-q', qps, '-t', '8', '-i', '40', '-w', '0')
    rows = connection['results']['operations']
    assert [(row['messages'], row['bytes']) for row in rows] == [
        (40 * qps, 40 * qps * int(item.split(':')[1])) for item in operations.split(',')]
    assert connection['requestor']['bwResults']['messages'] == 40 * qps * len(rows)


def test_operations_by_time(rxe):
    connection = rxe('--operations', 'write:65536,send:4096,atomic_fa:8', '-t', '9', '-D', '0.5', '-w', '0.1')
    counts = [row['messages'] for row in connection['results']['operations']]
    assert min(counts) > 0 and max(counts) - min(counts) <= 2


@pytest.mark.parametrize('transport, verb', [
    ('RC', 'read'), ('RC', 'atomic_fa'), ('UC', 'write_imm'), ('RC', 'write_imm'),
])
def test_workers_and_warm_up(rxe, transport, verb):
    connection = rxe(*options_of(transport, verb), '-N', '2', '-q', '3', '-i', '50', '--warmup_iterations', '21')
    figures = check_bandwidth(connection, transport, verb)
    assert figures['messages'] == 2 * 3 * 50
    sent = [row['totalSent'] for row in connection['resultsPerProcess'] if row['side'] == 'requestor']
    assert len(sent) == 2 and all(3 * 71 <= count <= 3 * 73 for count in sent)  # and a signalled one for each tail


@pytest.mark.parametrize('transport, verb, size, iterations', [
    ('RC', 'write', '8M', 3), ('RC', 'read', '1M', 5), ('RC', 'send', '4M', 3), ('RC', 'write', '65537', 20),
    ('RC', 'write', '1', 100), ('RC', 'send', '1', 100), ('UD', 'send', '4096', 50), ('UD', 'send', '1', 50),
    ('UC', 'write', '100k', 20), ('RC', 'read', '3', 30),
])
def test_sizes(rxe, transport, verb, size, iterations):
    connection = rxe(*options_of(transport, verb, size), '-i', iterations, '-t', '2', '-w', '0')
    figures = check_bandwidth(connection, transport, verb)
    assert figures['messages'] == iterations


@pytest.mark.parametrize('transport, verb', [('RC', 'send'), ('RC', 'write_imm'), ('UC', 'send'), ('UD', 'send')])
def test_every_byte_is_compared(rxe, transport, verb):
    connection = rxe(*options_of(transport, verb, '1003'), '--validate', '-w', '0', '-i', '300', '-t', '16')
    found, loss = connection['results']['validationResults'], connection['loss']
    assert found['validatedMessages'] == loss['received'] + (loss['duplicated'] or 0) > 0
    assert (found['invalidDataSampleCount'], found['invalidPositions']) == (0, [])


# --- settings ---

@pytest.mark.parametrize('mtu', [256, 2048, 4096])
def test_mtu(rxe, mtu):
    connection = rxe(*options_of('RC', 'write', '10000'), '-i', '20', '-w', '0', '--mtu', mtu)
    assert [connection[side]['facts']['mtu'] for side in ('requestor', 'responder')] == [mtu, mtu]


@pytest.mark.parametrize('transport, verb, index, gid', [
    ('UD', 'send', 0, r'fe80::.*'), ('RC', 'send', 1, IPV4_OR_IPV6), ('UD', 'send', 2, IPV4_OR_IPV6),
])
def test_gid_index(rxe, transport, verb, index, gid):
    connection = rxe(*options_of(transport, verb), '-i', '20', '-w', '0', '-g', index)
    for side in ('requestor', 'responder'):
        facts = connection[side]['facts']
        assert facts['gidIndex'] == index and re.fullmatch(gid, facts['gid'])


@pytest.mark.parametrize('options, parts', [
    (('-g', '77'), ('--gid_index 77', 'rxe0')), (('--ib_port', '2'), ('rxe0 has no port 2',)),
    (('-s', '8M', '-c', 'UD'), ('UD', '4096')), (('-q', '16384'), ('--qps',)),
    (('-s', '9', '-v', 'atomic_cs'), ('8 bytes',)), (('-v', 'write', '--rx_depth', '5'), ('--rx_depth',)),
    (('--null_rate', '1G'), ('--null_rate',)), (('--gso', 'on'), ('--gso',)), (('--server_device', 'rxe9'), ('rxe9',)),
    (('-c', 'UC', '--max_rd_atomic', '3'), ('--max_rd_atomic',)),
])
def test_refusals(refused, options, parts):
    sentence = refused(*options)
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize('host', ['10.1.0.1', 'fd00:10:1::1'])
def test_control_over_either_family(rxe, host):
    """The control connection's address does not decide the GID."""
    check_bandwidth(rxe(*options_of('RC', 'write'), '-i', '20', '-w', '0', host=host), 'RC', 'write')


@pytest.mark.parametrize('transport, verb', [('RC', 'write'), ('RC', 'read'), ('UD', 'send')])
def test_latency_with_the_connection_manager(rxe, transport, verb):
    connection = rxe(*options_of(transport, verb, '8'), '-m', 'lat', '-i', '30', '-w', '0', '--rdma_cm', 'on')
    assert connection['results']['latResults']['samples'] == 30


# --- ends ---

@pytest.fixture
def running(start, free_port):
    """running(*options) → (server, client) whose traffic runs."""
    def call(*options):
        port = free_port()
        server = start('--port', port)
        server.until('waiting for clients', 'stderr')
        client = start('-n', 'localhost', '--port', port, '-d', 'rxe0', '-w', '0', '-D', '60', '-R', '0.2', '-s', '1K',
                       '-t', '16', '--print_json_results', *options)
        client.until('Gb/s', 'stderr', timeout=20)
        return server, client
    return call


@pytest.mark.parametrize('number, rc, status, options', [
    (signal.SIGINT, 130, 'interrupted', ('-v', 'send')), (signal.SIGINT, 130, 'interrupted', ('-c', 'UD')),
    (signal.SIGKILL, 1, 'failed', ('-v', 'write')), (signal.SIGKILL, 1, 'failed', ('-v', 'read', '--events', 'on'))])
def test_ends(running, options, number, rc, status):
    """Ctrl-C at the client keeps its figures; a server that is killed is named. Nothing is left."""
    server, client = running(*options)
    begin = time.monotonic()
    if number == signal.SIGKILL:
        server.stop(number)
    else:
        client.send(number)
    result = client.wait(15)
    assert time.monotonic() - begin < 6 * SCALE
    document = check(result.stdout)
    assert (result.rc, document['status']) == (rc, status), result
    figures = document['connections'][0]['results']['bwResults']
    assert (figures is not None) == (number == signal.SIGINT), document['error']
    if number == signal.SIGKILL:
        assert 'localhost' in document['error']


def test_a_silent_server_is_named(running):
    server, client = running('-v', 'write')
    with open(f'/proc/{server.pid}/task/{server.pid}/children', encoding='ascii') as file:
        serving = int(file.read().split()[0])
    os.kill(serving, signal.SIGSTOP)
    result = client.wait(15)
    os.kill(serving, signal.SIGCONT)
    assert result.rc == 1 and "host 'localhost' has been silent" in check(result.stdout)['error']
