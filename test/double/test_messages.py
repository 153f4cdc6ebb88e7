"""Messages that fail, are lost, repeated or late, and a peer that is gone: counted exactly or said in one sentence."""
import pytest

from double.runs import TWO_SIDED, check_bandwidth, options

# Each status of a send and of a receive: test_faults.py.


@pytest.mark.parametrize('verb, metric', [('write', 'lat'), ('send', 'lat'), ('read', 'lat'), ('atomic_fa', 'bw')])
def test_status_of_others(refused, verb, metric):
    refused(options('RC', verb, metric), 'remote access error', client='status=50:REM_ACCESS_ERR')


@pytest.mark.parametrize('connection, verb', [('UC', 'send'), ('UC', 'write_imm'), ('UD', 'send')])
@pytest.mark.parametrize('faults', ['drop=10%', 'drop=7,drop=9,drop=100', 'dup=5,dup=60', 'delay=20:2000,drop=3'])
def test_unreliable(double, connection, verb, faults):
    outcome = double(options(connection, verb, 'bw', '--print_json_results'), client=faults)
    client, loss = outcome.client, outcome.connection['loss']
    assert outcome.rc == 0, outcome
    assert loss['sent'] == client['sent'] and loss['received'] == outcome.server['received'], (loss, outcome)
    # Without sequence numbers a copy that arrives makes up for a message that was lost.
    assert loss['lost'] == max(0, loss['sent'] - loss['received'])
    assert loss['received'] == client['sent'] - client['dropped'] - client['unreceived'] + client['duplicated']
    if '%' not in faults:
        assert client['dropped'] == faults.count('drop=') and client['duplicated'] == faults.count('dup=')


def test_latency_with_loss(double):
    """A ping-pong whose message is lost goes on, or says that it cannot; it never hangs."""
    outcome = double(options('UD', 'send', 'lat'), client='drop=50')
    assert outcome.rc in (0, 1), outcome
    assert outcome.rc == 0 or len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize('verb, metric', [('write', 'bw'), ('send', 'bw'), ('read', 'bw'), ('send', 'lat')])
def test_peer_gone(refused, verb, metric):
    refused(options('RC', verb, metric), 'transport retry counter exceeded', '--gid_index', client='gone=100')


def test_receiver_never_ready(refused):
    """With a bounded number of retries a sender whose messages find no receive gives up."""
    refused(['-d', 'double0', '-v', 'send', '-s', '64', '-D', '1', '-w', '0', '--rx_depth', '1', '--post_batch', '1',
             '--rnr_retry', '0', '--min_rnr_timer', '1'], 'RNR retry counter exceeded', '--rx_depth', '--rnr_retry')


@pytest.mark.parametrize('verb', ['write', 'send', 'write_imm', 'read'])
def test_reliable_delay(double, verb):
    """RC keeps the order: what is behind a late message waits for it."""
    outcome = double(options('RC', verb, 'bw', '--print_json_results'), client='delay=100:3000,delay=150:3000')
    check_bandwidth(outcome, verb)
    assert outcome.client['delayed'] == 2
    if verb in TWO_SIDED:
        assert outcome.connection['loss']['lost'] == 0


def test_delay_shows_in_latency(double):
    outcome = double(options('RC', 'write', 'lat', '--print_json_results'), client='delay=100:20000')
    latency = outcome.connection['results']['latResults']
    assert latency['maxUsec'] >= 10000, latency  # half of the round trip


@pytest.mark.parametrize('connection', ['RC', 'UC'])
def test_flip(double, connection):
    """A changed byte is no loss."""
    outcome = double(options(connection, 'send', 'bw', '--print_json_results'), client='flip=100:3')
    assert outcome.rc == 0 and outcome.client['flipped'] <= 1, outcome
    if connection == 'RC':
        check_bandwidth(outcome, 'send')
        assert outcome.client['flipped'] == 1


def test_a_late_message_shows_in_those_that_were_due_meanwhile(double):
    """By a schedule of 2 a ms one comes 60 ms late, and 119 behind it wait; in a closed loop it is one sample."""
    words = options('RC', 'send', 'lat', '--rate', '2kpps', '--print_json_results', iterations=500)
    connection = double(words, client='delay=100:60000').connection
    latency, load = connection['results']['latResults'], connection['load']
    assert latency['from'] == 'due' and latency['samples'] == load['dueMessages'] == 500
    assert load['missedMessages'] == latency['unanswered'] == 0
    assert latency['maxUsec'] > 59000
    assert sum(count for low, _, count in latency['histogram'] if low > 3 * 10 ** 7) >= 55
    closed = double(options('RC', 'send', 'lat', '--print_json_results'), client='delay=100:60000').connection
    assert sum(count for low, _, count in closed['results']['latResults']['histogram'] if low > 5 * 10 ** 7) >= 1
