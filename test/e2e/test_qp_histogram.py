"""The rates of single queue pairs: with any number of workers they add up to the figure, on the side that counts."""
import re

import pytest

pytestmark = pytest.mark.waits

QUICK = ('-D', '0.3', '-w', '0', '-H')


def check_rows(way, qps):
    """Every queue pair of the side that counts is there; rates add up, deviations are from the mean of all."""
    counting = [row for row in way['resultsPerProcess'] if row['side'] == way['countedBy']]
    assert all(row['qpHistogram'] is None for row in way['resultsPerProcess'] if row['side'] != way['countedBy'])
    assert all([bar['qpIndex'] for bar in row['qpHistogram']] == list(range(qps)) for row in counting)
    bars = [bar for row in counting for bar in row['qpHistogram']]
    total = sum(bar['bwGbSec'] for bar in bars)
    assert total == pytest.approx(way['results']['bwResults']['bwGbSec'])
    for bar in bars:
        assert bar['relativeDeviation'] == pytest.approx(100 * (bar['bwGbSec'] * len(bars) / total - 1), abs=1e-6)
    return bars


@pytest.mark.parametrize('options', [('-r', 'null', '--null_rate', '8G'),
                                     ('-r', 'null', '-v', 'send', '--null_rate', '8G', '-b'),
                                     ('-c', 'TCP'), ('-c', 'UDP', '-b')], ids=' '.join)
@pytest.mark.parametrize('workers, qps', [(1, 1), (2, 5)])
def test_rates_add_up(measure, options, workers, qps):
    document = measure(*options, *QUICK, '-N', workers, '-q', qps)
    for way in document['connections']:
        assert len(check_rows(way, qps)) == workers * qps


def test_by_count_all_are_equal(measure):
    document = measure('-r', 'null', '-w', '0', '-H', '-N', 2, '-q', 100, '-i', 640, '--null_rate', '80G')
    for worker in document['connections'][0]['resultsPerProcess'][:2]:
        assert len({bar['bwGbSec'] for bar in worker['qpHistogram']}) == 1


def test_without_it_there_is_none(measure):
    document = measure('-r', 'null', '-D', '0.2', '-w', '0')
    assert all(row['qpHistogram'] is None for row in document['connections'][0]['resultsPerProcess'])


@pytest.mark.parametrize('workers, qps, shown', [(1, 3, 3), (2, 3, 6), (2, 50, 64)])
def test_report_shows_all_or_both_ends(run, free_port, workers, qps, shown):
    result = run('-r', 'null', '-n', 'localhost', '--port', free_port(), *QUICK, '-N', workers, '-q', qps,
                 '--null_rate', '8G')
    lines = re.findall(r'^  QP ([0-9.]+) +#* +[0-9.]+ Gbit/sec', result.stdout, re.M)
    assert len(lines) == shown, result
    assert ('36 between these are in the JSON document' in result.stdout) == (shown < workers * qps)
    assert all(('.' in name) == (workers > 1) for name in lines)


def test_refused(run):
    result = run('-r', 'null', '-n', 'localhost', '-H', '-q', 16384, '-N', 17)
    assert result.rc == 1 and '-H takes at most 262144 queue pairs' in result.stderr, result
    result = run('-r', 'null', '-n', 'localhost', '-H', '-m', 'lat')
    assert result.rc == 1 and '-H has no effect with -m lat' in result.stderr, result
