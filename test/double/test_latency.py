"""Latency on the stand-in device: one way over all transports and verbs, several queue pairs, and what a loss costs."""
import pytest

from double.runs import TWO_SIDED, options, total

ONE_WAY = [('RC', 'write'), ('RC', 'write_imm'), ('RC', 'send'), ('UC', 'write'), ('UC', 'write_imm'), ('UC', 'send'),
           ('UD', 'send')]


@pytest.mark.parametrize('connection, verb', ONE_WAY)
@pytest.mark.parametrize('events', ['off', 'on'])
def test_one_way(double, connection, verb, events):
    """The requestor alone measures: 200 messages go, none comes back, and each was taken where it needs a receive."""
    outcome = double(options(connection, verb, 'lat', '--lat_mode', 'one_way', '--events', events, '-q', '2',
                             '--print_json_results', iterations=100))
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    latency = outcome.connection['results']['latResults']
    assert (latency['samples'], latency['mode'], latency['halved']) == (200, 'one_way', False)
    assert latency['acknowledged'] is (connection == 'RC')
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['maxUsec']
    assert outcome.client['sent'] == 200 and outcome.server['sent'] == 0
    if verb in TWO_SIDED:
        assert outcome.server['received'] == total(outcome, 'totalReceived') == 200


@pytest.mark.parametrize('verb', ['read', 'atomic_fa', 'atomic_cs'])
def test_one_way_is_refused(refused, verb):
    refused(options('RC', verb, 'lat', '--lat_mode', 'one_way'), f'-v {verb}', 'completion time')


@pytest.mark.parametrize('connection, verb', [('UC', 'write'), ('UC', 'send'), ('UD', 'send')])
@pytest.mark.parametrize('side', ['client', 'server'])
def test_a_lost_message_is_one_unanswered(double, connection, verb, side):
    """Whichever queue pair it was on, and whether the question or the answer is gone: the others go on."""
    for _ in range(4):  # on a busy machine an answer that is only late counts as lost, too
        outcome = double(options(connection, verb, 'lat', '-q', '4', '--print_json_results', iterations=50),
                         **{side: 'drop=50,drop=99'})
        assert outcome.rc == 0, outcome
        latency = outcome.connection['results']['latResults']
        assert latency['samples'] == 4 * 50 and latency['unanswered'] >= 2
        if latency['unanswered'] == 2:
            return
    pytest.fail(f'{latency["unanswered"]} unanswered where two messages were lost')


@pytest.mark.parametrize('connection, verb', [('RC', 'write'), ('RC', 'send'), ('RC', 'read'), ('RC', 'atomic_fa'),
                                              ('UC', 'write'), ('UD', 'send')])
def test_several_queue_pairs_and_workers(double, connection, verb):
    outcome = double(options(connection, verb, 'lat', '-q', '3', '-N', '2', '--print_json_results', iterations=40))
    assert outcome.rc == 0 and not outcome.alive(), outcome
    rows = [row for row in outcome.connection['resultsPerProcess'] if row['side'] == 'requestor']
    assert [row['latResults']['samples'] for row in rows] == [120, 120]
    assert outcome.connection['results']['latResults']['samples'] == 240
