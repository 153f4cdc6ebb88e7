"""Both directions on the same queue pairs: the device's counts agree with each direction's, faults stay in theirs."""
import pytest

from double.runs import TWO_SIDED, options
from double.test_traffic import LEGAL

BOTH = [(connection, verb) for connection, verb in LEGAL if verb != 'read']


def check_both(outcome, verb, least=200):
    """What the device of each side sent and received is what the direction from and to it says."""
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    assert not outcome.alive()
    sides = (outcome.client, outcome.server)
    for way, (here, there) in zip(outcome.json['connections'], (sides, sides[::-1])):
        sent = sum(row['totalSent'] or 0 for row in way['resultsPerProcess'])
        assert sent == here['sent'] >= least, (sent, here)
        if verb in TWO_SIDED:
            loss = way['loss']
            assert loss['sent'] == sent == loss['received'] + loss['lost']
            assert loss['received'] == there['received'], (loss, there)
            assert loss['lost'] == here['dropped'] + here['unreceived'], (loss, here)
    return outcome.json['connections']


@pytest.mark.parametrize('connection, verb', BOTH)
def test_every_transport_and_verb(double, connection, verb):
    outcome = double(options(connection, verb, 'bw', '-b', '--print_json_results'))
    for way in check_both(outcome, verb):
        if connection == 'RC':
            assert way['countedBy'] == 'requestor'
            assert way['results']['bwResults']['messages'] == 200


@pytest.mark.parametrize('connection, verb, more', [
    ('RC', 'send', ('-q', '8', '-N', '2')), ('UD', 'send', ('-q', '8',)), ('RC', 'send', ('--events', 'on')),
    ('RC', 'write', ('--events', 'on')), ('RC', 'send', ('--rdma_cm',)), ('RC', 'send', ('--rx_depth', '16', '-H')),
    ('RC', 'atomic_fa', ('-q', '4',))])
def test_knobs(double, connection, verb, more):
    check_both(double(options(connection, verb, 'bw', '-b', *more, '--print_json_results')), verb)


@pytest.mark.parametrize('connection', ['UC', 'UD'])
@pytest.mark.parametrize('side, lossy', [('client', 0), ('server', 1)])
def test_loss_is_booked_where_it_happens(double, connection, side, lossy):
    faults = {side: 'drop=7,drop=9,drop=100'}
    ways = check_both(double(options(connection, 'send', 'bw', '-b', '--print_json_results', '--rx_depth', '1024'),
                             **faults), 'send')
    assert [way['loss']['lost'] for way in ways] == [3 * (1 - lossy), 3 * lossy]


@pytest.mark.parametrize('side', ['client', 'server'])
def test_a_side_that_fails_is_named(refused, side):
    refused(options('RC', 'write', 'bw', '-b'), 'double0',
            **{side: 'status=100:RETRY_EXC_ERR'})


def test_by_time_with_warm_up(double):
    words = options('RC', 'send', 'bw', '-b', '-D', '0.3', '--print_json_results')
    for word in ('-i', '200', '-w', '0'):
        words.remove(word)
    document = double([*words, '-w', '0.1'], timeout=30)
    check_both(document, 'send', least=1)


@pytest.mark.parametrize('way', [(), ('-b',)])
@pytest.mark.parametrize('connection', ['RC', 'UD'])
def test_receives_that_were_refused_whole_are_posted_later(double, connection, way):
    """No message can arrive that would post them again; RC waits for them, UD loses what came before."""
    outcome = double(options(connection, 'send', 'bw', *way, '-q', '2', '--print_json_results'),
                     server='fail=ibv_post_recv:ENOMEM:1,fail=ibv_post_recv:ENOMEM:2')
    loss = outcome.json['connections'][0]['loss']
    assert outcome.rc == 0 and loss['sent'] == 400, outcome
    assert loss['received'] == outcome.server['received'] == 400 - loss['lost']
    if connection == 'RC':
        assert loss['lost'] == 0
