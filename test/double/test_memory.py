"""Kinds of memory on the stand-in device: which tests each serves, which it is refused for, and what it costs."""
import json

import pytest

from double.runs import check_bandwidth, options

LEGAL = [(verb, metric) for verb in ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs')
         for metric in ('bw', 'lat') if (verb, metric) != ('write', 'lat')]


def facts(outcome, side='requestor'):
    return outcome.connection[side]['facts']


def sides(result):
    connection = json.loads(result.stdout)['connections'][0]
    return connection['requestor'], connection['responder']


def memory(outcome):
    return outcome.connection['requestor']['memoryType'], outcome.connection['responder']['memoryType']


def measured(outcome, metric):
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    results = outcome.connection['results']
    return results['latResults']['samples'] if metric == 'lat' else results['bwResults']['messages']


@pytest.mark.parametrize('verb, metric', LEGAL)
def test_device(double, verb, metric):
    outcome = double(options('RC', verb, metric, '-M', 'device', '--print_json_results'))
    assert measured(outcome, metric) == 200
    assert memory(outcome) == ('device', 'device')
    assert facts(outcome)['inlineSize'] == 0


@pytest.mark.parametrize('connection, verb, metric, server', [
    ('RC', 'write', 'bw', 'host'), ('RC', 'write_imm', 'bw', 'host'), ('RC', 'read', 'bw', 'host'),
    ('RC', 'send', 'bw', 'nullmr'), ('RC', 'read', 'lat', 'host'), ('RC', 'send', 'lat', 'nullmr'),
    ('UC', 'write', 'bw', 'host'), ('UD', 'send', 'bw', 'nullmr')])
def test_nullmr(double, connection, verb, metric, server):
    """Where the server would be a target, which a null memory region cannot be, its memory is the host's."""
    outcome = double(options(connection, verb, metric, '-M', 'nullmr', '--print_json_results'))
    assert measured(outcome, metric) == 200
    assert memory(outcome) == ('nullmr', server)
    assert facts(outcome)['inlineSize'] == 0


def test_bandwidth_counts(double):
    for verb in ('write', 'send'):
        check_bandwidth(double(options('RC', verb, 'bw', '-M', 'device', '--print_json_results')), verb)


@pytest.mark.parametrize('own, server', [('host', 'device'), ('device', 'host'), ('nullmr', 'device')])
def test_sides_differ(double, own, server):
    outcome = double(options('RC', 'write', 'bw', '-M', own, '--server_mem_type', server, '--print_json_results'))
    assert measured(outcome, 'bw') == 200
    assert memory(outcome) == (own, server)


@pytest.mark.parametrize('words, verb', [
    (('-M', 'device'), 'write_imm'), (('--server_mem_type', 'device'), 'write_imm'), (('-M', 'nullmr'), 'send'),
    (('-M', 'host'), 'write')])
def test_latency_verb(double, words, verb):
    """Nobody can watch for a write where the CPU cannot look: another verb is chosen, and said."""
    outcome = double(['-d', 'double0', '-m', 'lat', '-i', '200', '-w', '0', *words, '--print_json_results'])
    assert measured(outcome, 'lat') == 200
    assert outcome.connection['testConfig']['resourceConfig']['operations'][0]['verb'] == verb


@pytest.mark.parametrize('words, parts', [
    ('-v write -m lat -M device', ('-M device', '-v write', 'use -v write_imm or send')),
    ('-v write -m lat --server_mem_type device', ('--server_mem_type device', '-v write', 'write_imm')),
    ('-v atomic_fa -s 8 -M nullmr', ('-M nullmr', 'atomic_fa', 'write, write_imm, read and send')),
    ('-v write --server_mem_type nullmr', ('--server_mem_type nullmr', 'no remote key')),
    ('-v write_imm -m lat -M nullmr', ('-M nullmr', '-v write_imm -m lat', 'no remote key')),
    ('-M device --hugepages on', ('--hugepages on', '-M device', 'host memory')),
    ('-M device --inline_size 8', ('--inline_size 8', '-M device')),
    ('-c TCP -M device', ('-M device', '-r sock', '-r ibv')),
    ('-r null --server_mem_type nullmr', ('--server_mem_type nullmr', '-r null')),
])
def test_refusals(refused, words, parts):
    refused(['-i', '10', '-w', '0', *words.split()], *parts)


def test_capacity(refused, double):
    """The sentence names what is there and what is needed; without a size asked for, little is taken."""
    words = options('RC', 'write', 'bw', '-M', 'device')
    refused([*words, '--working_set', '300000'], '256KiB', 'needs 292KiB', '--working_set')
    refused([*words, '-N', '2', '--working_set', '200000'], '2 workers of', both='dm=262144')
    refused(words, 'offers no memory of its own', both='dm=0')
    outcome = double([*words, '-N', '3', '--print_json_results'])
    assert outcome.rc == 0 and outcome.connection['requestor']['bufferBytes'] <= 128 << 10


def test_device_without(refused):
    refused(options('RC', 'send', 'bw', '-M', 'nullmr'), 'ibv_alloc_null_mr', 'Operation not supported', '-M host',
            both='no_null_mr')


def test_own_memory_of_a_server(start, environment, free_port):
    """A server that was started with -M keeps its memory, and refuses what that cannot serve."""
    port = str(free_port())
    start('--port', port, '-M', 'device', env=environment()).until('waiting for clients', 'stderr')
    words = ('-d', 'double0', '-n', 'localhost', '--port', port, '-i', '100', '-w', '0')
    result = start(*words, '--print_json_results', env=environment()).wait(15)
    assert [row['memoryType'] for row in sides(result)] == ['host', 'device'], result
    result = start(*words, '-m', 'lat', '-v', 'write', env=environment()).wait(15)
    assert result.rc == 1 and "the server's memory device (its -M)" in result.stderr, result
