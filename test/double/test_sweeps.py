"""Sweeps on the stand-in device: queue pairs are made once for all sizes, and no message is lost sight of."""
import pytest

from double.runs import TWO_SIDED

MADE = ('ibv_create_cq', 'ibv_reg_mr', 'ibv_alloc_pd')


def words(connection, verb, metric, sizes, *more):
    return ['-d', 'double0', '-c', connection, '-v', verb, '-m', metric, '-s', sizes, '-i', '200', '-w', '0', *more,
            '--print_json_results']


def check_counts(outcome, tests, setups=1):
    """Each set-up makes a queue pair for trial, and then one."""
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    aggregated = outcome.json['aggregatedResults']
    assert aggregated['setups'] == setups and len(aggregated['perTest']) == tests
    for side in (outcome.client, outcome.server):
        assert side['calls']['ibv_create_qp_ex'] == 2 * setups
        assert side['calls']['ibv_create_cq'] == setups


@pytest.mark.parametrize('connection, verb, last', [
    ('RC', 'write', '64K'), ('RC', 'send', '64K'), ('RC', 'write_imm', '64K'), ('RC', 'read', '64K'),
    ('UC', 'send', '64K'), ('UD', 'send', '4K'),
])
def test_queue_pairs_stay_while_the_size_changes(double, connection, verb, last):
    outcome = double(words(connection, verb, 'bw', f'1:{last}:*4'))
    sizes = 9 if last == '64K' else 7
    check_counts(outcome, sizes)
    assert sum(row['totalSent'] or 0 for entry in outcome.json['connections']
               for row in entry['resultsPerProcess']) == outcome.client['sent'] >= 200 * sizes
    for entry in outcome.json['connections']:
        assert entry['requestor']['bwResults']['messages'] == 200
        if verb in TWO_SIDED and connection == 'RC':
            assert entry['loss']['lost'] == 0
        assert 'badMessages' not in entry['responder']['facts']


@pytest.mark.parametrize('connection, verb', [('RC', 'send'), ('RC', 'write'), ('UD', 'send'), ('RC', 'read')])
def test_latency(double, connection, verb):
    outcome = double(words(connection, verb, 'lat', '64,1,4K,8'))
    check_counts(outcome, 4)
    assert [test['latResults']['samples'] for test in outcome.json['aggregatedResults']['perTest']] == [200] * 4


def test_inline_as_in_a_run_of_its_own(double):
    """The largest message that is inlined decides, not the largest message."""
    outcome = double(words('RC', 'write', 'bw', '64,4K'))
    assert {entry['requestor']['facts']['inlineSize'] for entry in outcome.json['connections']} == {64}


def test_another_number_of_queue_pairs_is_another_setup(double):
    outcome = double(words('RC', 'write', 'bw', '64,128', '-q', '1,2', '-t', '16,32'))
    assert outcome.rc == 0 and not outcome.alive(), outcome
    assert outcome.json['aggregatedResults']['setups'] == 4
    assert outcome.client['calls']['ibv_create_qp_ex'] == 4 + 1 + 1 + 2 + 2


def test_a_size_above_the_mtu_is_named_before_any_traffic(refused):
    refused(['-d', 'double0', '-c', 'UD', '-s', '64,2K', '-i', '100', '-w', '0'], '--msg_size 2048', '1024',
            both='mtu=1024')


def test_all_sizes_end_at_the_mtu(double):
    outcome = double(['-d', 'double0', '-c', 'UD', '-a', '-i', '50', '-w', '0', '--print_json_results'],
                     both='mtu=1024')
    check_counts(outcome, 10)


def test_a_test_that_fails_keeps_those_before(double):
    """The 700th message belongs to the fourth test."""
    outcome = double(words('RC', 'write', 'bw', '64,128,256,512,1K', '--post_batch', '1', '--cq_mod', '1'),
                     client='status=700:RETRY_EXC_ERR')
    assert outcome.rc == 1 and not outcome.alive(), outcome
    assert 'test 4 of 5' in outcome.stderr
    assert [test['status'] for test in outcome.json['aggregatedResults']['perTest']] == ['ok'] * 3 + ['failed']
