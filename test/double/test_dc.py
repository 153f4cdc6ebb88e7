"""DC: an endpoint names a target with each message that it sends, and takes others' at a target of its own."""
import json

import pytest

from double.runs import check_bandwidth, options
from double.test_both import check_both

JSON = ('--print_json_results',)
WRITE = options('DC', 'write', 'bw')


@pytest.mark.parametrize('verb', ['write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs'])
def test_each_verb_moves_messages(double, verb):
    """As a stream, in both directions, as a ping-pong that sleeps where it can; what is sent arrives."""
    outcome = double(options('DC', verb, 'bw', '-q', '3', *JSON), both='mlx5')
    check_bandwidth(outcome, verb)
    assert outcome.client['sent'] == outcome.client['delivered'] == 600
    assert outcome.connection['requestor']['facts']['postApi'] == 'ibv_wr_*'
    if verb != 'read':
        check_both(double(options('DC', verb, 'bw', '-b', *JSON), both='mlx5'), verb)
    events = 'off' if verb == 'write' else 'on'  # a write makes no event at the peer
    outcome = double(options('DC', verb, 'lat', '--events', events, '-q', '2', *JSON), both='mlx5')
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    assert outcome.connection['results']['latResults']['samples'] == 400


@pytest.mark.parametrize('link', ['eth', 'ib'])
def test_numbers_and_knobs_are_told(double, link):
    knobs = {'--qp_timeout': 11, '--retry_count': 3, '--rnr_retry': 2, '--min_rnr_timer': 5, '--mtu': 1024}
    words = [str(word) for pair in knobs.items() for word in pair]
    outcome = double(options('DC', 'send', 'bw', '-q', '3', '-N', '2', *words, *JSON), both=f'mlx5,link={link}')
    check_bandwidth(outcome, 'send')
    sides = [outcome.connection[side]['facts'] for side in ('requestor', 'responder')]
    for facts, other in (sides, sides[::-1]):
        assert facts['transport'] == 'DC' and facts['vendor'].startswith('0x2c9 ')
        assert facts['peerDcTargetNumber'] == other['dcTargetNumber'] not in (0, facts['dcTargetNumber'])
        assert [facts[key] for key in ('qpTimeout', 'retryCount', 'rnrRetry', 'minRnrTimer', 'mtu')] == \
            list(knobs.values())


def test_sizes_verbs_and_bytes(double):
    """Queue pairs stay while the size changes; several verbs go to one target; each byte is where it belongs."""
    words = ['-d', 'double0', '-c', 'DC', '-i', '100', '-w', '0', *JSON]
    outcome = double([*words, '-v', 'send', '-s', '64,4K,1'], both='mlx5')
    assert outcome.rc == 0 and not outcome.alive(), outcome
    assert outcome.json['aggregatedResults']['setups'] == 1
    for side in (outcome.client, outcome.server):
        assert side['calls']['mlx5dv_create_qp'] == 3  # one for trial, initiator and target
    outcome = double([*words, '--operations', 'write:64Ki,send:4Ki,atomic_fa:8,read:1000'], both='mlx5')
    rows = outcome.connection['results']['operations']
    assert outcome.rc == 0 and [row['messages'] for row in rows] == [100] * 4, outcome
    outcome = double([*words, '--validate', '-s', '64', '--rx_depth', '128'], both='mlx5', client='flip=70:9')
    found = outcome.connection['results']['validationResults']
    assert (found['validatedMessages'], found['invalidPositions'][0][2:4]) == (100, [69, 9])


def test_a_slow_receiver_is_waited_for(double):
    words = options('DC', 'send', 'bw', '--rx_depth', '1', '--post_batch', '1', *JSON)
    outcome = double(words, both='mlx5')
    check_bandwidth(outcome, 'send')
    assert outcome.connection['loss']['lost'] == 0


@pytest.mark.parametrize('words, faults, parts', [
    ((), {'client': 'mlx5'}, ('localhost', 'double0 has no DC', 'mlx5', 'ConnectX', 'use -c RC')),
    ((), {'server': 'mlx5'}, ('double0 has no DC', 'mlx5', 'ConnectX', 'use -c RC')),
    ((), {'both': 'mlx5', 'client': 'no_dc'}, ('double0', 'mlx5dv_create_qp', 'not supported', 'use -c RC')),
    ((), {'both': 'mlx5', 'server': 'no_dc'}, ('localhost', 'mlx5dv_create_qp', 'not supported', 'use -c RC')),
    ((), {'both': 'mlx5', 'client': 'mtu=1024'}, ('one MTU', 'give --mtu 1024')),
    (('--mtu', '2048'), {'both': 'mlx5', 'server': 'mtu=1024'}, ('--mtu 2048', '1024', 'localhost')),
    (('--wr_api', 'off'), {'both': 'mlx5'}, ('-c DC does not go with --wr_api off',)),
    (('--rdma_cm',), {'both': 'mlx5'}, ('-c DC does not go with --rdma_cm on',)),
    (('--use_ece',), {'both': 'mlx5'}, ('--use_ece has no effect with -c DC',)),
    (('-q', '3'), {'both': 'mlx5', 'server': 'max_qp=5'}, ('localhost', 'double0', 'mlx5dv_create_qp')),
    ((), {'both': 'mlx5', 'client': 'status=100:RETRY_EXC_ERR'}, ('DC write on double0', 'retry counter exceeded')),
    ((), {'both': 'mlx5', 'client': 'gone=100'}, ('DC write on double0', 'retry counter exceeded')),
])
def test_refused(refused, words, faults, parts):
    refused([*WRITE, *words], *parts, **faults)


def test_a_smaller_mtu_of_one_end_can_be_asked_for(double):
    outcome = double([*WRITE, '--mtu', '1024', *JSON], both='mlx5', client='mtu=1024')
    check_bandwidth(outcome, 'write')
    assert outcome.connection['responder']['facts']['mtu'] == 1024


def test_without_libmlx5(refused, tmp_path, monkeypatch):
    """A library that cannot be read is none."""
    (tmp_path / 'libmlx5.so.1').write_text('')
    monkeypatch.setenv('LD_LIBRARY_PATH', str(tmp_path))
    refused(WRITE, 'libmlx5.so.1', 'ibverbs-providers', both='mlx5')


def test_the_document_has_the_options(double):
    document = json.loads(double([*WRITE, *JSON], both='mlx5').stdout)
    assert document['scenario']['connectionType'] == 'DC' and document['scenario']['qpTimeOut'] == 14
