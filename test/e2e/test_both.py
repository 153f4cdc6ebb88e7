"""Both directions at once: each counted on its own in one window, their sum, and what is lost on either way."""
import re
import signal

import pytest

from e2e.conftest import disturbed
from e2e.result_schema import check
from e2e.test_null import is_lost
from processes import SCALE

QUICK = ('-D', '0.3', '-w', '0', '-b')


def ways(document):
    """The connections to the server and to the client, whose figures add up to the whole."""
    to_server, to_client = document['connections']
    assert [to_server['requestor']['role'], to_client['requestor']['role']] == ['client', 'server']
    assert [to_server['responder']['role'], to_client['responder']['role']] == ['server', 'client']
    total, = document['aggregatedResults']['bidirConnections']
    assert total['bwResults'] == document['aggregatedResults']['bwResults']
    for figure in ('bwGbSec', 'msgRateMpps', 'messages', 'bytes'):
        each = [way['results']['bwResults'][figure] for way in document['connections']]
        assert total['bwResults'][figure] == pytest.approx(sum(each))
        assert all(value > 0 for value in each)
    return to_server, to_client


def undisturbed(measure, *options):
    """The document of a run whose workers had their cores at the window's edges; that may take several runs."""
    for _ in range(8):
        document = measure(*options)
        if not any(disturbed(way) for way in document['connections']):
            return document
    pytest.fail('the machine was too busy in each of 8 runs')


def sum_of(way, side, key):
    return sum(row[key] for row in way['resultsPerProcess'] if row['side'] == side)


# --- the programmed link ---

@pytest.mark.parametrize('workers, qps', [(1, 1), (2, 3)])
@pytest.mark.parametrize('verb, rate', [('write', 8), ('send', 8), ('write_imm', 8), ('atomic_fa', 0.1)])
def test_each_direction_has_the_whole_link(measure, verb, rate, workers, qps):
    """The rate of each direction is the programmed one, the sum twice that and never more."""
    document = undisturbed(measure, '-r', 'null', *QUICK, '-v', verb, '-N', workers, '-q', qps, '--null_rate',
                           f'{rate}G')
    for way in ways(document):
        assert way['results']['bwResults']['bwGbSec'] == pytest.approx(rate, rel=0.002)
        assert 'aboveLinkRate' not in {remark['id'] for remark in way['remarks']}
    assert document['aggregatedResults']['bwResults']['bwGbSec'] <= 2 * rate * 1.001


@pytest.mark.parametrize('verb', ['write', 'send', 'atomic_cs'])
@pytest.mark.parametrize('workers, qps', [(1, 1), (2, 3)])
def test_counts_are_exact(measure, verb, workers, qps):
    document = measure('-r', 'null', '-b', '-w', '0', '-v', verb, '-i', 5000, '-N', workers, '-q', qps)
    for way in ways(document):
        assert way['results']['bwResults']['messages'] == 5000 * workers * qps
        assert sum_of(way, 'requestor', 'totalSent') == 5000 * workers * qps
        if verb == 'send':
            assert sum_of(way, 'responder', 'totalReceived') == 5000 * workers * qps
            assert way['loss']['lost'] == 0
    lasts = [way[side]['window']['durationSec']
             for way in document['connections'] for side in ('requestor', 'responder')]
    assert max(lasts) - min(lasts) < 0.05 * SCALE


def test_loss_is_that_of_its_direction(measure):
    """The device's rule decides which messages are lost; the server's endpoints are numbered behind the client's."""
    document = measure('-r', 'null', '-b', '-w', '0', '-v', 'send', '-i', 4000, '-N', 2, '-q', 2, '--null_loss', 0.01)
    for way, first in zip(ways(document), (0, 2)):
        lost = sum(is_lost(1 + worker, first + qp, number, 0.01)
                   for worker in range(2) for qp in range(2) for number in range(4000))
        assert way['countedBy'] == 'responder'
        assert way['loss'] == dict(sent=16000, received=16000 - lost, lost=lost, lostFraction=lost / 16000,
                                   duplicated=0, reordered=0)


def test_warm_up_by_count_stays_out(measure):
    document = measure('-r', 'null', '-b', '-v', 'send', '-i', 3000, '--warmup_iterations', 500)
    for way in ways(document):
        assert way['results']['bwResults']['messages'] == 3000
        assert sum_of(way, 'responder', 'totalReceived') == 3500


@pytest.mark.parametrize('asked, rc', [('15', 0), ('17', 2)])
def test_threshold_is_on_the_sum(measure, asked, rc):
    document = measure('-r', 'null', *QUICK, '--null_rate', '8G', '--bw_threshold', asked, rc=rc)
    assert document['aggregatedResults']['threshold']['status'] == ('missed' if rc else 'passed')
    assert all(way['threshold'] is None for way in document['connections'])


# --- sockets ---

@pytest.mark.parametrize('options', [(), ('-q', '8'), ('-N', '2', '-q', '2'), ('-s', '100'), ('--events', 'off'),
                                     ('--zerocopy', '-s', '1M')], ids=' '.join)
def test_tcp(measure, options):
    for way in ways(measure('-c', 'TCP', *QUICK, *options)):
        assert way['loss']['lost'] == 0
        assert way['loss']['sent'] == sum_of(way, 'requestor', 'totalSent') > 0


@pytest.mark.parametrize('options', [(), ('-q', '8'), ('-N', '2'), ('--gso', 'off'), ('-s', '2')], ids=' '.join)
def test_udp(measure, options):
    for way in ways(measure('-c', 'UDP', *QUICK, *options)):
        assert way['loss']['sent'] == way['loss']['received'] + way['loss']['lost'] > 0
        assert way['countedBy'] == 'responder'


@pytest.mark.parametrize('transport', ['TCP', 'UDP'])
def test_sockets_by_count(measure, transport):
    for way in ways(measure('-c', transport, '-b', '-w', '0', '-i', 20000, '-s', '1000', '-q', 2)):
        assert sum_of(way, 'requestor', 'totalSent') == 40000
        if transport == 'TCP':
            assert way['results']['bwResults']['messages'] == 40000


# --- on the terminal ---

def test_report_and_live_lines(run, free_port):
    result = run('-r', 'null', '-n', 'localhost', '--port', free_port(), '-b', '-v', 'send', '-D', '1', '-w', '0', '-R',
                 '0.2', '--null_rate', '8G')
    assert result.rc == 0, result
    figures = dict(re.findall(r'^(BW|To server|To client): +([0-9.]+) \[Gbit/sec\]', result.stdout, re.M))
    assert float(figures['BW']) == pytest.approx(float(figures['To server']) + float(figures['To client']), rel=0.001)
    assert result.stdout.count('  Lost:') == 2 and ' <-> ' in result.stdout
    lines = re.findall(r'^\[ +[0-9.]+s\] +([0-9.]+) Gb/s +[0-9.]+ Mpps +'
                       r'\(to server ([0-9.]+), to client ([0-9.]+) Gb/s\)$', result.stderr, re.M)
    assert len(lines) >= 2, result.stderr
    for total, forth, back in lines:
        assert float(total) == pytest.approx(float(forth) + float(back), rel=0.002, abs=0.002)


def test_interrupt_keeps_both_directions(start, free_port, tmp_path):
    path = tmp_path / 'result.json'
    client = start('-r', 'null', '-n', 'localhost', '--port', free_port(), '-b', '-v', 'send', '-D', '100', '-w', '0',
                   '-R', '0.1', '--null_rate', '8G', '-j', path)
    client.until('to client', 'stderr')
    client.send(signal.SIGINT)
    assert client.wait(20 * SCALE).rc == 130
    document = check(path.read_text())
    assert document['status'] == 'interrupted'
    for way in ways(document):
        assert way['loss']['lost'] == 0


# --- refusals ---

@pytest.mark.parametrize('options, words', [
    (('-v', 'read'), ('-b does not go with -v read', 'flows against its request')),
    (('-m', 'lat'), ('-b', '-m lat')),
])
def test_refused(run, options, words):
    result = run('-r', 'null', '-n', 'localhost', '-b', *options)
    assert result.rc == 1
    assert all(word in result.stderr for word in words), result.stderr
