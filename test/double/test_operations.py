"""Several operations an iteration: each is counted exactly, by count and by time, on each transport."""
import pytest

from double.runs import TWO_SIDED
from e2e.result_schema import check

ALL = 'write:64Ki,send:4Ki,atomic_fa:8,read:1000,write_imm:77,atomic_cs:8'


def words(operations, *more):
    warmup = () if '--warmup_iterations' in more else ('-w', '0')
    return ['-d', 'double0', '--operations', operations, *warmup, '--print_json_results', *more]


def check_run(outcome):
    """The connection of a good run; both sides' totals are what the device counted."""
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    assert not outcome.alive()
    connection = check(outcome.json)['connections'][0]
    sent = sum(row['totalSent'] or 0 for row in connection['resultsPerProcess'])
    assert sent == outcome.client['sent']
    return connection


@pytest.mark.parametrize('operations, more', [
    ('write:65536,send:4096,atomic_fa:8', ()), (ALL, ()), (ALL, ('--wr_api', 'off', '-q', '3')),
    (ALL, ('-t', '7', '--post_batch', '3', '--cq_mod', '1')), ('send:64,send:4096,send:1', ('-q', '2', '-N', '2')),
    ('send:1,write_imm:4096', ('-t', '1', '--rx_depth', '1')), ('read:9', ()), ('write:8,write:8', ('--events', 'on')),
    (ALL, ('--working_set', '200K')), (ALL, ('--inline_size', '0')), (ALL, ('--warmup_iterations', '31')),
    (ALL, ('-t', '100', '--post_batch', '16', '--cq_mod', '80')),
])
def test_by_count_each_is_done_as_often(double, operations, more):
    connection = check_run(double(words(operations, '-i', '100', *more)))
    endpoints = sum(row['numQps'] for row in connection['resultsPerProcess'] if row['side'] == 'requestor')
    assert [row['messages'] for row in connection['results']['operations']] == \
        [100 * endpoints] * (operations.count(',') + 1)
    figures = connection['results']['bwResults']
    assert figures['bytes'] == sum(row['bytes'] for row in connection['results']['operations'])
    assert connection['countedBy'] == 'requestor'


@pytest.mark.parametrize('operations, transport', [
    (ALL, 'RC'), (ALL, 'XRC'), ('write:8Ki,send:64,write_imm:1Ki', 'UC'), ('send:64,send:4Ki,send:1Ki', 'UD'),
])
def test_by_time_they_differ_by_what_is_under_way(double, operations, transport):
    """On a QP the positions tell: no operation is more than one ahead."""
    outcome = double(words(operations, '-D', '0.3', '-c', transport, '-q', '2', '-t', '32'))
    connection = check_run(outcome)
    counts = [row['messages'] for row in connection['results']['operations']]
    assert max(counts) - min(counts) <= 2 * 2 and min(counts) > 0
    all_seen = all(item.split(':')[0] in TWO_SIDED for item in operations.split(','))
    assert (connection['loss'] is not None) == all_seen
    assert connection['countedBy'] == ('responder' if all_seen else 'requestor')
    if all_seen:
        assert connection['loss']['lost'] == outcome.client['unreceived']


@pytest.mark.parametrize('operations', [ALL, 'send:64,send:4Ki,write_imm:1'])
@pytest.mark.parametrize('transport', ['RC', 'XRC'])
def test_the_end_waits_for_what_the_receiver_sees_only(double, operations, transport):
    """Else it would wait five seconds for the messages that take no receive there."""
    assert check_run(double(words(operations, '-i', '100', '-q', '3', '-c', transport)))['drainSec'] < 4


@pytest.mark.parametrize('operations', ['write:64Ki,send:4Ki,atomic_fa:8', 'send:64,send:4Ki,write_imm:1'])
def test_queue_pairs_have_their_bytes(double, operations):
    connection = check_run(double(words(operations, '-i', '100', '-q', '3', '-H')))
    bars = [bar['bwGbSec'] for row in connection['resultsPerProcess'] for bar in row['qpHistogram'] or ()]
    assert len(bars) == 3 and sum(bars) == pytest.approx(connection['results']['bwResults']['bwGbSec'], rel=1e-6)


def test_lists_of_queue_pairs_and_depths(double):
    document = check(double(words('write:64,send:4Ki', '-i', '100', '-q', '1,3', '-t', '4,9')).json)
    assert [[row['messages'] for row in connection['results']['operations']]
            for connection in document['connections']] == [[100] * 2, [100] * 2, [300] * 2, [300] * 2]


def test_a_receiver_counts_bytes_of_what_arrived(double):
    """Of three sizes one message is lost: the receiver's bytes lack that one."""
    sizes = (64, 4096, 1000)
    for number in (1, 2, 3):
        outcome = double(words('send:64,send:4Ki,send:1000', '-i', '50', '-c', 'UD'), client=f'drop={number}')
        connection = check_run(outcome)
        assert connection['loss']['lost'] == 1
        assert connection['responder']['bwResults']['bytes'] == 50 * sum(sizes) - sizes[number - 1]
        assert [row['messages'] for row in connection['results']['operations']] == [50] * 3


def test_a_foreign_size_is_named(double):
    """The verb of a request that fails is the one of its operation."""
    outcome = double(words('write:64,send:64', '-i', '50', '-t', '2'), client='status=4:REM_ACCESS_ERR')
    assert outcome.rc == 1 and 'RC send on double0' in outcome.stderr, outcome
    outcome = double(words('write:64,send:64', '-i', '50', '-t', '2'), client='status=5:REM_ACCESS_ERR')
    assert outcome.rc == 1 and 'RC write on double0' in outcome.stderr, outcome


def test_signals_that_never_fall_together_are_refused(double):
    outcome = double(words(','.join(['write:8'] * 13), '-i', '1', '-t', '16384', '--cq_mod', '8191'))
    assert outcome.rc == 1 and 'take a --cq_mod that is a multiple of 13' in outcome.stderr, outcome
