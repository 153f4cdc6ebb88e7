"""The knee command, as far as one host can tell, and the lists of bursts that it is made of."""
import pytest

KNEE = ('--traffic_pattern', 'incast', '-n', 'a,b', '-c', 'UDP', '--link_rate', '1')


@pytest.mark.parametrize('words, sentence', [
    ((), 'knee needs --traffic_pattern incast with -n'),
    (('--traffic_pattern', 'ring', '-n', 'a,b'), 'knee needs --traffic_pattern incast with -n'),
    (('--traffic_pattern', 'incast', '-n', 'a,b', '-c', 'RC'), 'a transport that loses messages: -c UC, UD or UDP'),
    (('--traffic_pattern', 'incast', '-n', 'a,b', '-c', 'UDP'), 'knee needs --link_rate'),
    ((*KNEE, '-s', '8,64'), 'one value of -s'),
    ((*KNEE, '--burst_profile', 'training'),
     '--burst_profile training has no knee'),
    ((*KNEE, '--burst_log', 'x'),
     '--burst_log does not go with knee'),
    ((*KNEE, '--dual_unidir'),
     '--dual_unidir does not go with knee: one port receives'),
    ((*KNEE, '-w', '1'),
     '-w does not go with knee'),
    ((*KNEE, '-H'),
     '-H does not go with knee: it draws the curve'),
    ((*KNEE, '-m', 'lat'),
     '-m lat does not go with knee: it counts what is lost'),
    ((*KNEE, '-D', '5'),
     '-D does not go with knee'),
    (('--traffic_pattern', 'incast', '-n', 'a,b', '-c', 'UD', '-d', 'x0', '--link_rate', '1'),
     'knee over verbs needs --mtu'),
    ((*KNEE, '--second_incast', 'c,b'),
     "'b' is in -n and in --second_incast"),
    ((*KNEE, '--second_incast', 'c,d,e'),
     '-n has 1 senders and --second_incast 2: take as many'),
    ((*KNEE, '--curve=-'),
     '--curve takes a file'),
    ((*KNEE, '--second_incast', 'c'),
     'second incast: MANY_TO_ONE takes at least two endpoints'),
    ((*KNEE, '--curve', '/nowhere/x.svg'),
     'could not be written to /nowhere/x.svg: give --curve a file'),
])
def test_what_has_no_knee_is_refused(run, words, sentence):
    result = run('knee', *words)
    assert result.rc == 1 and sentence in result.stderr and not result.stdout, result


@pytest.mark.parametrize('words', [('--second_incast', 'c,d'), ('--curve', 'x.svg')])
@pytest.mark.parametrize('command', [(), ('plan',)])
def test_what_belongs_to_knee_is_refused_elsewhere(run, command, words):
    result = run(*command, '--traffic_pattern', 'incast', '-n', 'a,b', '-c', 'UDP', *words)
    assert result.rc == 1 and f"{words[0]} has no effect here: it belongs to 'fabperf knee'" in result.stderr, result


def test_sizes_of_bursts_in_turn(measure):
    """A list of bursts: a row each, and each burst has its messages."""
    rows = measure('-c', 'UDP', '--burst_profile', 'sync_burst', '--burst_size', '3,200', '--burst_pause', '2',
                   '--burst_count', '20', '-w', '0')['connections']
    assert [row['bursts']['burstSize'] for row in rows] == [3, 200]
    for row, size in zip(rows, (3, 200)):
        assert row['loss']['sent'] == row['bursts']['messages'] == size * row['bursts']['bursts']
