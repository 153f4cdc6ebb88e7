"""Bursts over verbs on the stand-in device: each has its messages, by the device's own counts on both sides."""
import pytest

PROFILES = {  # a burst each 10 ms: a machine that is away for a while leaves most of them
    'sync_burst': ('--burst_pause', '10'),
    'storage': ('--rate_limit', '614.4k'),
}


@pytest.mark.parametrize('profile', PROFILES)
@pytest.mark.parametrize('connection, verb', [('RC', 'send'), ('UC', 'write_imm'), ('UD', 'send')])
def test_messages_are_exact(double, connection, verb, profile):
    """By count, and with one message lost on the way where the transport lets it be lost."""
    lossy = connection != 'RC'
    words = ['-d', 'double0', '-c', connection, '-v', verb, '-s', '64', '--burst_profile', profile, *PROFILES[profile],
             '--burst_size', '12', '--burst_count', '20', '-q', '2', '-w', '0', '--print_json_results']
    outcome = double(words, client='drop=5' if lossy else '')
    bursts, loss = outcome.connection['bursts'], outcome.connection['loss']
    assert outcome.rc == (0 if loss['received'] else 1) and not outcome.alive(), outcome  # 1: away all the time
    queues = 1 if profile == 'storage' else 2
    assert bursts['slots'] == bursts['bursts'] + bursts['skippedSlots'] + bursts['fullSlots'] == 40 / queues
    assert bursts['messages'] == bursts['bursts'] * 12 * queues == outcome.client['sent'] == loss['sent']
    assert outcome.client['dropped'] == (lossy and loss['sent'] >= 5) and (lossy or not outcome.client['unreceived'])
    assert loss['lost'] == outcome.client['dropped'] + outcome.client['unreceived']  # receives posted too late
    assert outcome.server['received'] == loss['received'] == loss['sent'] - loss['lost']
