"""Predictions of a 16-port switch at 400 Gbit/s: the rows of docs/bursts.md, by `fabperf plan`, in right units."""
import json
import time

import pytest

MB, KI64 = 1e6, 65536
SWITCH = ['-n', 'node[1-8]', '-d', 'mlx5_[0-1]', '--link_rate', '400', '--summary', '--json']
POOL = ['--buffer', '101m', '--alpha', '1']


@pytest.fixture
def predict(run):
    """The prediction of a scenario's plan."""
    def call(*words):
        result = run('plan', *SWITCH, *words)
        assert (result.rc, result.stderr) == (0, '')
        return json.loads(result.stdout)['prediction']
    return call


def near(value, wanted, slack):
    assert abs(value - wanted) <= slack, f'{value} is not {wanted} within {slack}'


def sync(messages, *words):
    return ['--traffic_pattern', 'incast', '-c', 'UC', '--burst_profile', 'sync_burst', '--burst_size', str(messages),
            '--burst_pause', '2.11', *words]


# messages, usec, MB unlimited, MB lost, % lost, Gbit/s of a sender over a cycle
SYNC = [(30, 39.3, 27.5, 0, 0, 7.3), (45, 59.0, 41.3, 0, 0, 10.9), (58, 76.0, 53.2, 2.7, 4.8, 13.9),
        (70, 91.8, 64.2, 13.7, 20, 16.7), (100, 131.1, 91.8, 41.3, 42, 23.4), (150, 196.6, 137.6, 87.1, 59, 34.1),
        (300, 393.2, 275.3, 224.8, 76, 62.8)]


@pytest.mark.plain
def test_sync_incast(predict):
    """Every row; both simulations within 0.05 MB a burst of the closed forms; the knee and the time to fill."""
    for messages, usec, unlimited, lost, percent, graph in SYNC:
        free = predict(*sync(messages))
        assert free['dropBytes'] == 0 and free['bufferLimitBytes'] is None
        if free['overload']:  # without a limit there is no peak
            assert messages >= 150 and free['peakBytes'] is None
        else:
            near(free['peakBytes'], unlimited * MB, 0.05 * MB)
        one = predict(*sync(messages, *POOL, '--simulate'))
        near(one['burstUsec'], usec, 0.05)
        near(one['fillRateGbSec'] / 8e3 * one['burstUsec'] * MB, unlimited * MB, 0.05 * MB)
        near(one['peakBytes'], min(unlimited, 50.5) * MB, 0.05 * MB)
        near(one['dropBytes'], lost * MB, 0.05 * MB)
        near(one['dropPercent'], percent, 0.5)
        near(one['senderAverageGbSec'], graph, 0.05)
        near(one['hitMessagesPercent'], 100 if one['overload'] else max(100 * (messages - 55) / messages, 0), 0.001)
        near(one['kneeMessages'], 55.0, 0.05)
        near(one['timeToFillUsec'], 72.1, 0.05)
        packets = predict(*sync(messages), '-s', '4K', *POOL)  # a message is one
        assert packets['hitMessagesPercent'] == packets['dropPercent']
        for engine in ('fluid', 'packet'):
            near(one['simulation'][engine]['peakBytes'], one['peakBytes'], 0.05 * MB)
            near(one['simulation'][engine]['dropBytes'] / 3, one['dropBytes'], 0.05 * MB)
            near(one['simulation'][engine]['offeredBytes'], 3 * one['offeredBytes'], 1)


@pytest.mark.plain
def test_skew_and_alpha(predict):
    """(N - 1) S - C w, which both simulations meet; half of the pool is not what alpha 1/2 gives."""
    for skew in (0, 1, 15):
        one = predict(*sync(30, '--start_skew', f'{skew}us', '--simulate', '--mtu', '4096'))
        closed = 14 * 30 * KI64 - one['payloadRateGbSec'] * 1e9 / 8 * skew * 1e-6
        assert one['exact']
        near(one['peakBytes'], closed, 1)
        near(one['simulation']['fluid']['peakBytes'], closed, 1)
        near(one['simulation']['packet']['peakBytes'], closed, 4097)
    half = predict(*sync(58, '--buffer', '101m', '--alpha', '0.5'))
    near(half['bufferLimitBytes'], 33.67 * MB, 0.05 * MB)
    near(half['dropBytes'], 19.55 * MB, 0.05 * MB)
    near(half['kneeMessages'], 36.7, 0.05)
    near(half['timeToFillUsec'], 48.1, 0.05)
    gaps = predict(*sync(1, '--start_skew', '500us'))
    assert not gaps['exact']
    near(gaps['peakBytes'], 0, 1)


@pytest.mark.plain
def test_headers(predict):
    """Each packet has 82 bytes of them, also the only one of a short message and the last one of a longer one."""
    for size, packet in [('64K', 4096), ('6000', 3000), ('64', 64)]:
        one = predict(*sync(30, '-s', size, '--mtu', '4096'))
        near(one['payloadRateGbSec'], 400 * packet / (packet + 82), 0.01)


@pytest.mark.plain
def test_training(predict):
    """An incast fills the buffer, not more; all-to-all and a ring fill nothing."""
    incast = ['--traffic_pattern', 'incast', '-c', 'UC', *POOL]
    for ms, lost, percent, sender, receiver in [(1, 649.5, 86.6, 4.0, 8.0), (5, 3449.5, 92.0, 19.0, 22.9),
                                                (50, 34949.5, 93.2, 133.3, 136), (100, 69949.5, 93.3, 200, 202)]:
        one = predict(*incast, '--burst_profile', 'training', '--burst_ms', str(ms), '--pause_min', '100')
        near(one['peakBytes'], 50.5 * MB, 1)
        near(one['dropBytes'], lost * MB, 0.05 * MB)
        near(one['dropPercent'], percent, 0.05)
        near(one['senderAverageGbSec'], sender, 0.05)
        near(one['receiverAverageGbSec'], receiver, 0.5)
    for pattern in ('all2all', 'allreduce'):
        for low, high, graph in [(0, 500, 114.3), (100, 100, 200), (0, 0, 400)]:
            one = predict('--traffic_pattern', pattern, *POOL, '--burst_profile', 'training', '--burst_ms', '100',
                          '--pause_min', str(low), '--pause_max', str(high))
            near(one['senderAverageGbSec'], graph, 0.05)
            near(one['receiverAverageGbSec'], graph, 0.05)
            assert one['peakBytes'] == one['dropBytes'] == one['fillRateGbSec'] == 0


@pytest.mark.plain
def test_storage(predict):
    """Bursts that meet by chance; what acknowledgements hold back."""
    storage = ['--burst_profile', 'storage', '-s', '4K', '--burst_size', '61', *POOL]
    for rate, percent, receiver in [(10, 0, 150), (25, 0, 375), (30, 11.1, 400)]:
        for pattern, out in (('incast', 1), ('all2all', 15)):
            one = predict('--traffic_pattern', pattern, '-c', 'UC', *storage, '--rate_limit', str(rate))
            near(one['burstUsec'], 5.0, 0.05)
            near(one['dropPercent'], percent, 0.05)
            near(one['receiverAverageGbSec'], receiver, 0.05)
            near(one['senderAverageGbSec'], min(rate * out, 400), 0.05)
            near(one['kneeMessages'], 0 if one['overload'] else 50.5 * MB / 14 / 4096, 0.1)
            if rate < 30:
                near(one['peakBytes'], 3.50 * MB, 0.05 * MB)
                assert one['chancePeakBytes'] < one['peakBytes'] and not one['overload']
            else:
                near(one['timeToFillUsec'], 8100, 50)
    held = predict('--traffic_pattern', 'incast', '-c', 'RC', *storage, '--rate_limit', '30', '--tx_depth', '128')
    near(held['inFlightBytes'], 15 * 128 * 4096, 1)
    assert held['overload'] and held['dropBytes'] == 0 and held['peakBytes'] == held['inFlightBytes']


@pytest.mark.plain
def test_marks_and_pauses(predict):
    """Marking and pausing: when they begin, what they need, and that pausing in time loses nothing."""
    one = predict(*sync(58, *POOL, '--ecn_kmin', '1600k', '--ecn_kmax', '6400k', '--cable', '40', '--pfc_xoff', '500k',
                        '--simulate'))
    near(one['markUsec'], 2.3, 0.05)
    near(one['pfcHeadroomBytes'], 2 * (4096 + 82) + 2 * 40 / 1.98e8 * 50e9 + 905 * 64, 1)
    for engine in ('fluid', 'packet'):
        ran = one['simulation'][engine]
        assert ran['dropBytes'] == 0 and ran['pausedUsec'] > 0 and ran['markedPercent'] > 40
        delay = (one['pfcHeadroomBytes'] - 4096 - 82) / 50e9
        near(ran['peakBytes'], 15 * 500e3 + 14 * 50e9 * delay, 0.15 * MB)


@pytest.mark.plain
def test_thousands_of_endpoints(run):
    """16.8 million connections: queues are alike, so that one stands for all. Tells the time."""
    began = time.monotonic()
    result = run('plan', '--traffic_pattern', 'all2all', '-n', 'node[1-512]', '-d', 'mlx5_[0-7]', '--summary', '--json',
                 '--burst_profile', 'sync_burst', '--burst_size', '61', '--link_rate', '400', *POOL)
    print(f'{time.monotonic() - began:.2f} s')
    one = json.loads(result.stdout)['prediction']
    assert (one['senders'], one['ports'], one['connectionsPerSender']) == (4095, 4096, 4095)
    near(one['senderBurstUsec'], 4095 * 61 * KI64 / 50e9 * 1e6, 1)
    assert one['peakBytes'] == 0
