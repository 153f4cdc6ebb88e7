"""The programmed link: what is reported is what is true, for latency, rate and loss."""
import random

import pytest

from processes import SCALE

MASK = (1 << 64) - 1
EXACT = 0.001 if SCALE == 1 else 0.1  # a sanitized program is judged by what it does, not by how fast
QUICK = ('-r', 'null', '-D', '0.2', '-w', '0')


def is_lost(seed, endpoint, number, probability):
    """The device's rule (src/driver/null.h), written again from its description: SplitMix64 of the message's number."""
    x = (seed + (endpoint << 40) + (number + 1) * 0x9e3779b97f4a7c15) & MASK
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK
    return ((x ^ (x >> 31)) >> 11) / 2 ** 53 < probability


def lost_of(messages, probability, seed=1, workers=1, qps=1):
    """How many of the first messages of each queue pair are lost; a worker's own seed is the seed plus its number."""
    return sum(is_lost(seed + worker, qp, number, probability)
               for worker in range(workers) for qp in range(qps) for number in range(messages))


def median_latency(measured, usec, tolerance, *options):
    """latResults of a run whose median is not too high: whatever else runs here adds to it; nothing makes it lower."""
    for _ in range(8):
        results = measured(*options, '-m', 'lat')['results']['latResults']
        assert results['minUsec'] >= usec * (0.9999 if SCALE == 1 else 0.6) - EXACT
        if results['medianUsec'] <= usec + tolerance:
            break
    assert results['medianUsec'] <= usec + tolerance
    return results


def sent_by_workers(results):
    return [row['totalSent'] for row in results['resultsPerProcess'] if row['side'] == 'requestor']


# --- latency ---

@pytest.mark.parametrize('verb', ['write', 'send', 'read', 'atomic_fa'])
@pytest.mark.parametrize('text, usec', [('200ns', 0.2), ('1us', 1), ('5us', 5), ('50us', 50)])
def test_latency_is_the_programmed_one(measured, text, usec, verb):
    """Half of the round trip for a ping-pong, the completion for read and atomics: both are the one-way time here."""
    tolerance = max(0.01 * usec, 0.06 if verb in ('write', 'send') else 0.12) * SCALE  # the clock's and the loop's cost
    results = median_latency(measured, usec, tolerance, *QUICK, '-v', verb, '--null_latency', text)
    assert results['halved'] == (verb in ('write', 'send'))
    assert results['samples'] > 10


def test_latency_includes_the_time_on_the_link(measured):
    """100 kB at 8 Gb/s last 100 us."""
    options = ('-s', '100k', '--null_rate', '8G', '--null_latency', '10us')
    median_latency(measured, 110, 1.1, *QUICK, *options)


@pytest.mark.parametrize('verb', ['write', 'send', 'read'])
@pytest.mark.parametrize('workers, qps', [(1, 1), (2, 3)])
def test_latency_by_iterations_has_as_many_samples(measured, verb, workers, qps):
    options = ('-r', 'null', '-w', '0', '-m', 'lat', '-v', verb, '-i', '500', '-N', workers, '-q', qps)
    results = measured(*options)['results']['latResults']
    assert results['samples'] == 500 * workers * qps


# --- rate ---

@pytest.mark.parametrize('qps', [1, 4, 16])
@pytest.mark.parametrize('workers', [1, 2, 4])
def test_rate_is_the_programmed_one(measured, workers, qps):
    results = measured(*QUICK, '-N', workers, '-q', qps, '--null_rate', '100G')
    assert results['results']['bwResults']['bwGbSec'] == pytest.approx(100, rel=EXACT)
    assert sum(row['numQps'] for row in results['resultsPerProcess'] if row['side'] == 'requestor') == workers * qps


@pytest.mark.parametrize('size, rate, gbps', [('64', '100M', 0.1), ('64', '2G', 2), ('4K', '1G', 1), ('4K', '40G', 40),
                                              ('1M', '1G', 1), ('1M', '400G', 400), ('1M', '1T', 1000)])
def test_rate_at_other_sizes(measured, size, rate, gbps):
    window = '1' if (size, rate) == ('1M', '1G') else '0.4'  # one message of 1 MiB lasts 8 ms at 1 Gb/s
    results = measured('-r', 'null', '-D', window, '-w', '0', '-s', size, '--null_rate', rate)
    figures = results['results']['bwResults']
    slack = EXACT + 2 / figures['messages']
    assert figures['bwGbSec'] == pytest.approx(gbps, rel=slack)


@pytest.mark.parametrize('options', [
    ('-v', 'send'), ('-v', 'write_imm'), ('-v', 'read'), ('-c', 'UD', '-s', '4096'), ('-c', 'UC', '-v', 'send'),
    ('-t', '1'), ('-t', '83', '--post_batch', '1'), ('--null_latency', '20us'), ('-w', '0.1', '--end_margin', '100ms'),
])
def test_rate_by_other_ways(measured, options):
    """Depths and latencies that the link's rate hides; the receiver counts the same rate where it counts."""
    warm = () if '-w' in options else ('-w', '0')
    results = measured('-r', 'null', '-D', '0.3', *warm, '--null_rate', '100G', *options)
    assert results['requestor']['bwResults']['bwGbSec'] == pytest.approx(100, rel=EXACT)
    assert results['results']['bwResults']['bwGbSec'] <= 100 * (1 + EXACT)


@pytest.mark.parametrize('options', [(), ('--warmup_iterations', '700'), ('-q', '5')])
def test_rate_by_iterations_is_never_above_the_link(measured, options):
    """The first message leaves an empty link: i messages take i times their time on it, and the worker's delays."""
    warm = () if options and options[0].startswith('--w') else ('-w', '0')
    words = ('-r', 'null', '-i', '6000', *warm, '-v', 'write', '--null_rate', '100G', *options)
    figures = measured(*words)['results']['bwResults']
    assert figures['messages'] == 6000 * (5 if '-q' in options else 1)
    assert 0 < figures['bwGbSec'] <= 100 * (1 + EXACT)


def test_a_depth_of_one_waits_for_each_message(measured):
    """64 KiB at 100 Gb/s last 5.243 us; with 50 us to the completion one message takes 55.243 us."""
    results = measured(*QUICK, '-t', '1', '--null_rate', '100G', '--null_latency', '50us')
    assert results['results']['bwResults']['bwGbSec'] == pytest.approx(65536 * 8 / 55.24288e3, rel=EXACT)


# --- loss ---

@pytest.mark.waits
@pytest.mark.parametrize('options', [(), ('-v', 'send'), ('-c', 'UD', '-s', '1K'), ('-v', 'read')])
@pytest.mark.parametrize('probability', ['0.01', '0.5', '1'])
def test_loss_is_counted_exactly(measured, probability, options):
    results = measured('-r', 'null', '-w', '0', '-i', '5000', '--null_loss', probability, *options)
    lost = lost_of(5000, float(probability))
    loss = results['loss']
    assert (loss['sent'], loss['received'], loss['lost']) == (5000, 5000 - lost, lost)
    assert (loss['duplicated'], loss['reordered']) == (0, 0)
    assert results['requestor']['bwResults']['messages'] == 5000
    if lost < 5000:
        assert results['responder']['bwResults']['messages'] == 5000 - lost


@pytest.mark.tsan
def test_loss_of_several_workers_and_queue_pairs(measured):
    words = ('-N', '2', '-q', '5', '--null_loss', '0.1', '--seed', '77')
    results = measured('-r', 'null', '-w', '0', '-i', '2000', *words)
    lost = [lost_of(2000, 0.1, seed=77 + worker, qps=5) for worker in (0, 1)]
    assert results['loss']['lost'] == sum(lost)
    rows = [row for row in results['resultsPerProcess'] if row['side'] == 'responder']
    assert [row['totalReceived'] for row in rows] == [10000 - count for count in lost]
    assert sent_by_workers(results) == [10000, 10000]


def test_loss_of_a_run_by_time(measured):
    """Warm-up and what was under way at the end included: every message that was sent is either there or lost."""
    loss = measured('-r', 'null', '-D', '0.2', '-w', '0.1', '--null_loss', '0.02', '--null_rate', '10G')['loss']
    assert loss['lost'] == lost_of(loss['sent'], 0.02)
    assert loss['sent'] == loss['received'] + loss['lost'] > 0


def test_another_seed_loses_other_messages(measured):
    losses = {seed: measured('-r', 'null', '-w', '0', '-i', '3000', '--null_loss', '0.3', '--seed', seed)['loss']
              for seed in (0, 1, 10 ** 15)}
    assert {seed: loss['lost'] for seed, loss in losses.items()} == {seed: lost_of(3000, 0.3, seed) for seed in losses}
    assert len({loss['lost'] for loss in losses.values()}) > 1


def test_loss_slows_nothing_but_the_receiver(measured):
    """Half of the messages are lost: the sender's rate stays the link's, the figure is what arrived."""
    results = measured('-r', 'null', '-D', '0.5', '-w', '0', '--null_rate', '10G', '--null_loss', '0.5')
    assert results['requestor']['bwResults']['bwGbSec'] == pytest.approx(10, rel=EXACT)
    assert results['countedBy'] == 'responder'
    assert results['loss']['lostFraction'] == pytest.approx(0.5, abs=0.05)


# --- counts: whatever the depths, a run ends, and with exactly as many messages as asked for ---

ODD = [(5, 12, None, None, 10000), (1, 83, 7, 3, 10007), (1, 1, 1, 1, 1000), (3, 128, 128, 1, 9999),
       (2, 83, None, 83, 5000), (7, 2, 1, 2, 1), (64, 3, 3, 1, 7), (16, 1000, 999, 1, 1001),
       (1, 32768, None, None, 100000)]


def chosen(seed):
    """Some combination that the program takes: cq_mod and post_batch fit into the depth."""
    chance = random.Random(seed)
    depth = chance.choice([1, 2, 3, 12, 83, 128, 1000])
    batch = chance.choice([b for b in (1, 2, 3, 7, 16, 64) if b <= depth])
    steps = [c for c in (1, 2, 3, 7, 16, 64) if c <= depth and (c % batch == 0 or batch % c == 0 or c + batch <= depth)]
    iterations = chance.choice([1, 2, 7, 99, 1000, 10007])
    return chance.choice([1, 2, 3, 5, 16]), depth, chance.choice(steps), batch, iterations


@pytest.mark.waits
@pytest.mark.parametrize('qps, depth, step, batch, iterations', ODD + [chosen(seed) for seed in range(8)])
@pytest.mark.parametrize('options', [
    ('-v', 'write'), ('-v', 'send'), ('--null_rate', '100G', '--null_loss', '0.2', '-s', '1K'),
])
def test_messages_are_as_many_as_asked_for(measured, qps, depth, step, batch, iterations, options):
    words = ['-r', 'null', '-w', '0', '-N', '2', '-q', qps, '-t', depth, '-i', iterations, *options]
    words += ['--cq_mod', step] if step else []
    words += ['--post_batch', batch] if batch else []
    results = measured(*words, timeout=30)
    assert sent_by_workers(results) == [qps * iterations] * 2
    assert results['requestor']['bwResults']['messages'] == 2 * qps * iterations
    if results['loss']:
        assert results['loss']['sent'] == 2 * qps * iterations
        assert results['loss']['sent'] == results['loss']['received'] + results['loss']['lost']


@pytest.mark.waits
@pytest.mark.parametrize('warmup', ['1', '13', '1000'])
def test_warm_up_iterations_are_sent_and_not_counted(measured, warmup):
    results = measured('-r', 'null', '-i', '700', '-q', '3', '--warmup_iterations', warmup, '-v', 'send')
    assert results['requestor']['bwResults']['messages'] == 3 * 700
    assert sent_by_workers(results) == [3 * (700 + int(warmup))]
    assert results['loss']['sent'] == results['loss']['received'] == 3 * (700 + int(warmup))
