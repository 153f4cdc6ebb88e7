"""Latency in its modes, with several queue pairs and workers: what a sample is, and that every one counts once."""
import pytest

DRIVERS = [('-r', 'null', '-v', 'write'), ('-r', 'null', '-v', 'send'), ('-c', 'TCP'), ('-c', 'UDP'),
           ('-c', 'TCP', '--events', 'on')]
SHORT = ('-m', 'lat', '-w', '0')


def latency(connection):
    return connection['results']['latResults']


@pytest.mark.parametrize('driver', DRIVERS)
def test_one_way_is_the_senders_completion(measured, driver):
    """Nobody answers: the responder only takes the messages, and the document cannot be taken for a round trip's."""
    results = measured(*driver, *SHORT, '-i', '500', '--lat_mode', 'one_way')
    assert latency(results)['samples'] == 500
    assert latency(results)['mode'] == 'one_way' and latency(results)['halved'] is False
    assert latency(results)['acknowledged'] is ('null' in driver)
    sides = {row['side']: row for row in results['resultsPerProcess']}
    assert sides['requestor']['totalSent'] == 500
    if 'null' not in driver:
        assert sides['responder']['totalReceived'] == 500


@pytest.mark.parametrize('options, meaning', [
    (('-r', 'null', '-v', 'send'), 'latency: half of the round trip'),
    (('-r', 'null', '-v', 'read'), 'latency: from post to completion'),
    (('-r', 'null', '-v', 'send', '--lat_mode', 'one_way'), 'one way: from post to acknowledgement'),
    (('-c', 'UDP', '--lat_mode', 'one_way'), 'one way: from post to local completion without acknowledgement'),
])
def test_the_report_says_what_a_sample_is(run, free_port, options, meaning):
    result = run('-n', 'localhost', '--port', free_port(), *SHORT, '-i', '100', *options)
    assert result.rc == 0 and f'({meaning})' in result.stdout, result


@pytest.mark.parametrize('words, sentence', [
    (('-v', 'read', '-m', 'lat'), '--lat_mode one_way does not go with -v read, whose latency is a completion time'),
    (('-v', 'atomic_cs', '-m', 'lat'), '--lat_mode one_way does not go with -v atomic_cs'),
    (('-v', 'send'), '--lat_mode has no effect with -m bw (the default): it applies to -m lat'),
])
def test_one_way_is_refused_where_it_means_nothing(run, words, sentence):
    result = run('-r', 'null', '-n', 'localhost', '--lat_mode', 'one_way', *words)
    assert result.rc == 1 and sentence in result.stderr, result


@pytest.mark.tsan
@pytest.mark.parametrize('mode', ['full_round_trip', 'one_way'])
@pytest.mark.parametrize('driver', DRIVERS)
def test_samples_of_all_workers_and_queue_pairs_add_up(measured, driver, mode):
    """Every queue pair has its turn as often as any other; the total is the sum of the workers and of the buckets."""
    results = measured(*driver, *SHORT, '-i', '120', '-N', '2', '-q', '3', '--lat_mode', mode)
    whole = latency(results)
    workers = [row['latResults'] for row in results['resultsPerProcess'] if row['side'] == 'requestor']
    assert whole['samples'] == 2 * 3 * 120
    assert [row['samples'] for row in workers] == [360, 360]
    assert sum(count for _, _, count in whole['histogram']) == whole['samples']
    assert whole['minUsec'] == min(row['minUsec'] for row in workers)
    assert whole['maxUsec'] == max(row['maxUsec'] for row in workers)
    assert whole['meanUsec'] == pytest.approx(sum(row['meanUsec'] for row in workers) / 2)
