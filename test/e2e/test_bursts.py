"""Bursts: exact counts at the receiver for each profile and driver, and what all senders of a scenario did together."""
import csv
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from e2e.result_schema import check

DRIVERS = {
    'null': ('-r', 'null', '-v', 'send', '--null_rate', '10G'),
    'tcp': ('-c', 'TCP', '-s', '4K'),
    'udp': ('-c', 'UDP'),
    'ofi': ('-r', 'ofi', '-d', 'tcp', '-v', 'send', '-s', '4K'),
}
PROFILES = {
    'sync_burst': ('--burst_size', '12', '--burst_pause', '2'),
    'storage': ('--burst_size', '12', '--rate_limit', '50M'),
}


def holds_together(bursts, size, queues=1):
    """What must be true of any run, however busy the machine is."""
    assert bursts['slots'] == bursts['bursts'] + bursts['skippedSlots'] + bursts['fullSlots']
    assert bursts['messages'] == bursts['bursts'] * size * queues
    assert bursts['lateBursts'] <= bursts['bursts'] == bursts['lateness']['samples'] == bursts['length']['samples']


@pytest.mark.parametrize('profile', PROFILES)
@pytest.mark.parametrize('driver', DRIVERS)
def test_messages_are_exact(measure, driver, profile):
    """By count: of 50 slots each that was filled has its 12 messages on both queue pairs, counted at the receiver."""
    result = measure(*DRIVERS[driver], '--burst_profile', profile, *PROFILES[profile], '--burst_count', '50', '-q', '2',
                     '-w', '0')['connections'][0]
    bursts, loss = result['bursts'], result['loss']
    queues = 1 if profile == 'storage' else 2
    holds_together(bursts, 12, queues)
    assert bursts['slots'] == 50 * (2 if profile == 'storage' else 1)
    assert loss['sent'] == bursts['messages'] == loss['received'] + loss['lost']
    assert driver == 'udp' or loss['lost'] == 0
    assert bursts['profile'] == profile and bursts['together'] is None
    assert (bursts['askedFlowGbSec'] == 0.05) == (profile == 'storage')


@pytest.mark.parametrize('driver', ['null', 'tcp'])
def test_training_by_time(measure, driver):
    """On and off over a window: what arrived is what was sent, and the pauses are those asked for."""
    result = measure(*DRIVERS[driver], '--burst_profile', 'training', '--burst_ms', '2', '--pause_min', '10',
                     '--pause_max', '20', '--seed', '5', '-D', '0.6', '-w', '0.1')['connections'][0]
    bursts, loss = result['bursts'], result['loss']
    assert bursts['slots'] == bursts['bursts'] + bursts['skippedSlots'] + bursts['fullSlots']
    assert 25 <= bursts['slots'] <= 52  # 600 ms in steps of 12 to 22 ms
    assert loss['sent'] == loss['received'] + loss['lost'] and bursts['messages'] <= loss['sent']
    assert driver == 'udp' or loss['lost'] == 0


def log_of(path):
    """Rows of a log, numbers as such."""
    return [{key: int(value) if key not in ('sender', 'last_completion_ns') else value for key, value in row.items()}
            for row in csv.DictReader(path.open())]


def test_storage_keeps_its_rate(measure, tmp_path):
    """Slots lie where the rate says, to the ns, to the end; so the rate is as asked, but for what the host held up."""
    rate, bits, log = 37_000_001, 12 * 4096 * 8, tmp_path / 'bursts.csv'
    bursts = measure('-r', 'null', '-v', 'send', '-s', '4K', '--burst_profile', 'storage', '--burst_size', '12',
                     '--rate_limit', '37.000001M', '--burst_count', '200', '-q', '2', '-w', '0', '--burst_log',
                     log)['connections'][0]['bursts']
    holds_together(bursts, 12)
    assert bursts['slots'] == 400
    rows = log_of(log)
    for queue in (0, 1):
        mine = [row for row in rows if row['qp'] == queue]
        first = mine[0]['planned_ns'] - mine[0]['burst'] * bits * 1e9 / rate
        assert all(abs(row['planned_ns'] - first - row['burst'] * bits * 1e9 / rate) < 2 for row in mine)
        assert all(row['planned_ns'] <= row['begun_ns'] <= row['doorbell_ns'] for row in mine)
        assert all(row['messages'] == 12 for row in mine)
    held = (bursts['skippedSlots'] + bursts['fullSlots']) / 400 + bursts['lateness']['maxUsec'] / 2e6
    assert bursts['achievedFlowGbSec'] == pytest.approx(rate / 1e9, rel=1e-3 + held)


@pytest.mark.parametrize('profile', ['sync_burst', 'storage'])
def test_what_a_stop_has_missed_is_not_caught_up(start, free_port, tmp_path, profile):
    """A sender that is stopped misses its slots: all are counted, and only the one at hand is late."""
    log = tmp_path / 'bursts.csv'
    pace = ('--burst_pause', '1') if profile == 'sync_burst' else ('--rate_limit', '64M', '-s', '1000')  # 1 ms
    process = start('-n', 'localhost', '--port', free_port(), '-r', 'null', '--burst_profile', profile, *pace,
                    '--burst_size', '8', '--burst_count', '1500', '-w', '0', '--burst_log', log, '--print_json_results',
                    '-R', '0.1')
    process.until('Gb/s', stream='stderr')  # a live line: its test runs
    process.send(signal.SIGSTOP)
    time.sleep(0.1)
    process.send(signal.SIGCONT)
    result = process.wait()
    assert result.rc == 0, result
    bursts, rows = check(result.stdout)['connections'][0]['bursts'], log_of(log)
    holds_together(bursts, 8)
    assert bursts['slots'] == 1500 and bursts['skippedSlots'] >= 80
    assert len({row['burst'] for row in rows}) == len(rows) == bursts['bursts']
    # Sent one after another they would be 80 late ones; the host may take the core in the moment of a beginning.
    assert sum(row['begun_ns'] - row['planned_ns'] >= 1_000_000 for row in rows) <= 40


def check_arrivals(bursts, rows, slots, whole):
    """The receiver's account of an incast, against the log: a slot's messages came at instants of its own, in order."""
    arrivals = bursts['arrivals']
    came = {row['burst']: row for row in rows if row['arrived'] != '0'}
    assert arrivals['receivers'] == 1 and arrivals['wholeBursts'] <= arrivals['bursts'] <= slots
    assert len(came) <= arrivals['bursts']  # of late slots nothing may have been sent, but something come
    assert all(int(row['first_arrival_ns']) <= int(row['last_arrival_ns']) for row in came.values())
    told = sum(int(row['arrived']) for row in came.values())
    assert told == bursts['messages'] or (told < bursts['messages'] and bursts['bursts'] < bursts['slots'])
    full = [row for row in came.values() if int(row['arrived']) == whole]
    assert len(full) <= arrivals['wholeBursts'] == (arrivals['firstToLast'] or {'samples': 0})['samples']


def check_volley(volley, senders, size):
    """One clock's view: clocks and paths together are what arrivals and posts can differ by, but for what queued."""
    assert volley['senders'] == senders and volley['messageBytes'] == size
    assert volley['arrivalSpread']['samples'] == volley['postSpread']['samples'] == 16


def of_ranks(run, pattern, *options):
    """The checked document of a scenario in which each sender had a burst; a busy machine may take several runs."""
    for _ in range(5):
        result = run('--traffic_pattern', pattern, *options, '-w', '0', '--print_json_results', timeout=90)
        if result.rc == 0:
            break
    assert result.rc == 0, result
    return check(result.stdout)


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
def test_the_receiver_tells_what_came(run, tmp_path):
    """Three senders over TCP: all that was sent came in some slot, and the volley before it is none of the traffic."""
    log = tmp_path / 'bursts.csv'
    document = of_ranks(run, 'incast', '-n', 'localhost%[1-4]', '-c', 'TCP', '-s', '1000', '--burst_profile',
                        'sync_burst', '--burst_size', '6', '--burst_pause', '8', '--burst_count', '40', '--link_rate',
                        '10', '--burst_log', log)
    test = document['aggregatedResults']['perTest'][0]
    bursts = test['bursts']
    assert test['sent'] == test['received'] == bursts['messages']
    check_arrivals(bursts, list(csv.DictReader(log.open())), 40, 18)
    check_volley(bursts['volley'], 3, 1000)
    assert bursts['volley']['linkUsec'] == pytest.approx(2 * 1000 * 8 / 1e4)


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
def test_incast(run):
    """Three senders over UDP: each burst of all is compared, and the skew stands beside the error of the clocks."""
    document = of_ranks(run, 'incast', '-n', 'localhost%[1-4]', '-c', 'UDP', '--burst_profile', 'sync_burst',
                        '--burst_size', '20', '--sync_pause_ms', '4', '--burst_count', '60', '--link_rate', '10')
    test = document['aggregatedResults']['perTest'][0]
    bursts, together = test['bursts'], test['bursts']['together']
    holds_together(bursts, 20)
    assert bursts['senders'] == 3 and bursts['slots'] == 180
    assert test['sent'] == bursts['messages'] == test['received'] + test['lost']
    assert together['completeBursts'] <= together['comparedBursts'] <= 60
    assert together['validBursts'] <= together['completeBursts']
    assert together['clockErrorUsec'] > 0 and together['halfSenders'] == 2
    assert bursts['idealUsec'] == pytest.approx(3 * 20 * 1024 * 8 / 1e4)
    if together['startSkew']:
        assert together['startSkew']['samples'] == together['completeBursts']
        assert together['overlapAll']['maxUsec'] <= together['overlapHalf']['maxUsec']


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
def test_all_to_all_shares_its_worker(run):
    """A worker sends to all its peers: one burst has the messages of all of them, and each connection its own count."""
    document = of_ranks(run, 'all2all', '-n', 'localhost%[1-3]', '-c', 'TCP', '-s', '1K', '--burst_profile',
                        'sync_burst', '--burst_size', '10', '--burst_pause', '4', '--burst_count', '40')
    bursts = document['aggregatedResults']['perTest'][0]['bursts']
    holds_together(bursts, 10, 2)
    assert bursts['senders'] == 3 and bursts['slots'] == 120
    assert bursts['arrivals'] is None or bursts['arrivals']['receivers'] <= 3 and bursts['arrivals']['bursts'] <= 120
    check_volley(bursts['volley'], 2, 1024)  # at the first endpoint that has two senders
    sent = [c['loss']['sent'] for c in document['connections']]
    assert len(sent) == 6 and sum(sent) == bursts['messages']
    assert all(c['loss']['received'] == c['loss']['sent'] for c in document['connections'])


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
def test_ranks_that_only_receive_tell_what_came(run):
    """Two incasts side by side, and one that sends to two others: each receiver tells, rank 0 or not."""
    nodes = {name: [{'hostName': f'localhost%{i}'} for i in ranks] for name, ranks in
             {'first': (1, 2, 3), 'second': (4, 2, 3)}.items()}
    tests = [{'testName': name, 'trafficPattern': 'INCAST', 'testNodes': at} for name, at in nodes.items()]
    tests.append({'testName': 'fan', 'trafficPattern': 'ONE_TO_MANY', 'testNodes': nodes['second'][::-1]})
    scenario = {'duration': 0.8, 'endMargin': 0, 'warmupTime': 0, 'connectionType': 'TCP', 'msgSize': '1000',
                'burstProfile': 'sync_burst', 'burstSize': 6, 'burstPause': 20, 'tests': tests}
    for _ in range(5):  # a busy machine may have no burst in the window, or a receiver none of them
        result = run('-f', json.dumps(scenario), '--print_json_results', timeout=90)
        first, second, fan = (test['bursts'] for test in check(result.stdout)['aggregatedResults']['perTest'])
        told = [bursts and bursts['arrivals'] and bursts['arrivals']['receivers'] for bursts in (first, second, fan)]
        if told == [1, 1, 2]:
            break
    assert result.rc == 0, result
    for bursts, receivers in ((first, 1), (second, 1), (fan, 2)):
        arrivals = bursts['arrivals']
        assert arrivals['receivers'] == receivers and arrivals['wholeBursts'] <= arrivals['bursts'], bursts
        assert arrivals['bursts'] <= 40 * receivers, bursts
    check_volley(first['volley'], 2, 1000)
    check_volley(second['volley'], 2, 1000)
    assert fan['volley'] is None


def test_a_held_up_sender_shows(run, free_port, tmp_path):
    """One of four workers is held up by 5 ms in each tenth burst: the log has that worker late there."""
    log = tmp_path / 'bursts.csv'
    result = run('-n', 'localhost', '--port', free_port(), '-r', 'null', '-N', '4', '--burst_profile', 'sync_burst',
                 '--burst_size', '8', '--burst_pause', '8', '--burst_count', '60', '-w', '0', '--null_delay', '5ms',
                 '--null_delay_every', '10', '--burst_log', log, '--print_json_results')
    assert result.rc == 0, result
    bursts = check(result.stdout)['connections'][0]['bursts']
    rows = list(csv.DictReader(log.open()))
    assert len(rows) == bursts['bursts'] and bursts['senders'] == 4
    first = [row for row in rows if row['worker'] == '0']
    held = [row for i, row in enumerate(first) if i % 10 == 0]  # each tenth of its posts
    assert all(int(row['doorbell_ns']) - int(row['planned_ns']) > 5_000_000 for row in held)
    assert all(row['messages'] == '8' for row in rows)
    assert all(int(row['planned_ns']) <= int(row['begun_ns']) <= int(row['doorbell_ns']) for row in rows)
    assert bursts['together']['startSkew'] is None or bursts['together']['startSkew']['maxUsec'] > 0


def test_a_log_that_cannot_be_written_is_told_before_the_run(run, tmp_path):
    result = run('-n', 'localhost', '-r', 'null', '--burst_profile', 'sync_burst', '--burst_size', '8', '-D', '30',
                 '--burst_log', tmp_path / 'nowhere' / 'bursts.csv')
    assert result.rc == 1 and 'give --burst_log a file in a directory that you may write to' in result.stderr, result


def resident(pid):
    """Bytes."""
    return int(Path(f'/proc/{pid}/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


@pytest.mark.plain
def test_memory_stays_the_same(start, free_port):
    """5,000 bursts a second, many more than are kept: nothing grows but by what the live line takes."""
    process = start('-n', 'localhost', '--port', free_port(), '-r', 'null', '-N', '2', '--burst_profile', 'sync_burst',
                    '--burst_size', '4', '--burst_pause', '0.2', '-D', '5', '-w', '0', '-R', '0.5',
                    '--print_json_results')
    sizes = []
    for second in range(1, 5):
        process.until(rf'\[  {second}', 'stderr')
        sizes.append(resident(process.pid))
    result = process.wait()
    assert result.rc == 0 and max(sizes) - sizes[0] < 1 << 20, sizes
    holds_together(check(result.stdout)['connections'][0]['bursts'], 4)


def test_a_log_that_becomes_full(run, free_port):
    """The report is printed all the same; the sentence names the option, the exit status tells."""
    result = run('-n', 'localhost', '--port', free_port(), '-r', 'null', '--burst_profile', 'sync_burst',
                 '--burst_size', '4', '--burst_pause', '1', '--burst_count', '500', '-w', '0', '--burst_log',
                 '/dev/full')
    assert result.rc == 1 and 'Bursts:' in result.stdout and len(result.stderr.splitlines()) == 1
    assert '--burst_log: cannot write the result to /dev/full: No space left on device' in result.stderr, result


@pytest.mark.plain
def test_a_simulation_without_end_is_left_out(run):
    """A port that stops and goes on all the time: the plan is there, and one sentence says what is not."""
    result = run('plan', '--traffic_pattern', 'incast', '-n', 'a[1-16]', '-c', 'RC', '-s', '64K', '--burst_profile',
                 'training', '--burst_ms', '20s', '--pause_min', '1ms', '--pause_max', '1ms', '--link_rate', '400',
                 '--mtu', '4096', '--buffer', '101m', '--alpha', '1', '--pfc_xoff', '100', '--cable', '0.1',
                 '--simulate', timeout=120)
    assert result.rc == 0 and 'Plan: 1 test, 16 hosts' in result.stdout, result
    assert 'Simulation of' not in result.stdout and len(result.stderr.splitlines()) == 1
    assert 'the simulation is left out: it took 20000000 events' in result.stderr


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
def test_short_connections_tell_their_bursts(run):
    """Points that differ in nothing but the size of bursts can be told apart."""
    document = of_ranks(run, 'incast', '-n', 'localhost%[1-2]', '-c', 'TCP', '--burst_profile', 'sync_burst',
                        '--burst_size', '3,7', '--burst_pause', '2', '--burst_count', '20', '--results_detail',
                        'connections')
    assert [c['burstSize'] for c in document['connections']] == [3, 7]
