"""Every legal transport, verb and metric moves messages between two processes, and both sides' counts are true."""
import pytest

from double.runs import TWO_SIDED, check_bandwidth, options

VERBS = {
    'RC': ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs'),
    'UC': ('write', 'write_imm', 'send'),
    'UD': ('send',),
    'XRC': ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs'),
}
LEGAL = [(connection, verb) for connection, verbs in VERBS.items() for verb in verbs]


@pytest.mark.parametrize('connection, verb', LEGAL)
@pytest.mark.parametrize('api', ['on', 'off'])
def test_bandwidth(double, connection, verb, api):
    outcome = double(options(connection, verb, 'bw', '--wr_api', api, '--print_json_results'))
    check_bandwidth(outcome, verb)
    assert outcome.connection['requestor']['facts']['postApi'] == ('ibv_wr_*' if api == 'on' else 'ibv_post_send')
    if connection in ('RC', 'XRC'):
        assert outcome.client['sent'] == outcome.client['delivered']
        assert outcome.connection['results']['bwResults']['messages'] >= 200


@pytest.mark.parametrize('connection, verb, events', [
    (*pair, events) for pair in LEGAL for events in ('off', 'on')
    if (pair[1], events) != ('write', 'on')  # a write makes no event at the peer
])
def test_latency(double, connection, verb, events):
    outcome = double(options(connection, verb, 'lat', '--events', events, '--print_json_results'))
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    assert not outcome.alive()
    latency = outcome.connection['results']['latResults']
    assert latency['samples'] == 200
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['maxUsec']
    assert outcome.client['sent'] >= 200
    if verb in TWO_SIDED:
        # Each side may end with one more message, whose completion says that all before it are done; nobody takes it.
        for here, there in ((outcome.client, outcome.server), (outcome.server, outcome.client)):
            assert here['sent'] == here['delivered']
            assert 0 <= here['delivered'] - there['received'] <= 2


@pytest.mark.parametrize('connection, verb', [('RC', 'send'), ('RC', 'write'), ('UD', 'send')])
def test_events_bandwidth(double, connection, verb):
    outcome = double(options(connection, verb, 'bw', '--events', 'on', '--print_json_results'))
    check_bandwidth(outcome, verb)
    assert outcome.connection['requestor']['facts']['completionMode'].startswith('events')


@pytest.mark.parametrize('connection, verb', [('RC', 'write'), ('RC', 'send'), ('UC', 'send'), ('UD', 'send')])
def test_many_queue_pairs(double, connection, verb):
    outcome = double(options(connection, verb, 'bw', '-q', '16', '--print_json_results'))
    check_bandwidth(outcome, verb)


def test_two_workers(double):
    check_bandwidth(double(options('RC', 'send', 'bw', '-N', '2', '-q', '3', '--print_json_results')), 'send')


def test_slow_receiver(double):
    """One receive at a time: RC waits for it and loses nothing."""
    outcome = double(options('RC', 'send', 'bw', '--rx_depth', '1', '--post_batch', '1',
                             '--print_json_results'))
    check_bandwidth(outcome, 'send')
    assert outcome.connection['loss']['lost'] == 0


@pytest.mark.parametrize('knobs', [
    ('--tx_depth', '1'), ('--tx_depth', '7', '--cq_mod', '3', '--post_batch', '5'), ('--post_batch', '1'),
    ('--cq_mod', '128'), ('--working_set', '64'), ('--inline_size', '0'), ('--inline_size', '64'),
])
def test_knobs(double, knobs):
    check_bandwidth(double(options('RC', 'write_imm', 'bw', *knobs, '--print_json_results')), 'write_imm')


@pytest.mark.parametrize('last', [15, 16, 17])
@pytest.mark.parametrize('samples', [95, 96, 97])
def test_phases_end_anywhere(double, last, samples):
    """Wherever the ring of signals stands when warm-up and test end, the last messages complete.

    The warm-up ends while its message LAST is under way, since that one takes longer than the warm-up.
    """
    words = ['-d', 'double0', '-v', 'write', '-m', 'lat', '-s', '64', '-w', '100ms', '-i', str(samples)]
    outcome = double(words, client=f'delay={last}:200000')
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome


def test_large_messages(double):
    outcome = double(['-d', 'double0', '-v', 'send', '-m', 'bw', '-s', '1Mi', '-i', '50', '-w', '0',
                      '--print_json_results'])
    assert outcome.rc == 0 and outcome.connection['loss']['lost'] == 0, outcome


def test_infiniband(double):
    outcome = double(options('RC', 'write', 'bw', '--print_json_results'), both='link=ib')
    check_bandwidth(outcome, 'write')
    assert outcome.connection['requestor']['facts']['linkLayer'] == 'InfiniBand'
    assert outcome.connection['requestor']['facts']['lid'] == 1


def test_second_device(double):
    words = options('RC', 'write', 'bw', '--server_device', 'double1', '--print_json_results')
    outcome = double(words, both='devices=2')
    assert outcome.rc == 0, outcome
    assert outcome.connection['responder']['facts']['device'] == 'double1'
