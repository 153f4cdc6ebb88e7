"""Scenarios over hosts with their own sshd, address and clock, by ssh and Open MPI from a host that takes no part."""
import csv
import json
import re
import shutil
import time
from pathlib import Path

import pytest

from e2e.result_schema import check
from processes import SCALE

pytestmark = pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')


def check_counts(connections, lossless):
    for connection in connections:
        loss = connection['loss']
        assert loss['sent'] == loss['received'] + loss['lost'] and loss['received'] > 0, connection
        assert not lossless or loss['lost'] == 0


PAIRS = {
    'ALL_TO_ALL': {(i, j) for i in range(1, 5) for j in range(1, 5) if i != j},
    'RING': {(1, 2), (2, 3), (3, 4), (4, 1)},
    'BISECTION': {(1, 3), (2, 4)},
    'MANY_TO_ONE': {(2, 1), (3, 1), (4, 1)},
}


def number(end):
    return int(end['hostName'].removeprefix('node'))


def check_clocks(document):
    """Clocks that lie 1000 s apart are found within their bounds, nearly where the machine is not busy."""
    offsets = []
    for place, rank in enumerate(document['ranks']):
        assert rank['machineName'] == f'node{place + 1}'
        for when in ('', 'After'):
            off = abs(rank[f'clockOffset{when}Nsec'] - place * 1000 * 10**9)
            assert rank['clockShared'] is (place == 0), rank  # each host has a time namespace
            assert off <= rank[f'clockError{when}Nsec'] >= rank[f'clockU95{when}Nsec'], rank
            assert off == 0 or place, rank
            offsets.append(off)
    assert min(offsets[2:]) < 50000
    window = document['aggregatedResults']['commonWindow']
    assert window['clockClosure']['pairs'] == 3 and window['clockClosure']['outsideBounds'] == 0, window
    assert window['beginSkewUsec'] > 0 and window['endSkewUsec'] > 0, window


SMALL = 'mpirun -x FI_OFI_RXM_BUFFER_SIZE=2048 -x FI_OFI_RXM_MSG_RX_SIZE=64'  # libfabric zeroes 100 MB an endpoint


@pytest.mark.parametrize('node, transports', [
    ({}, [{'connectionType': 'TCP'}, {'connectionType': 'UDP', 'rate': '10M'}]),
    ({'deviceName': 'tcp'}, [{'rdmaDriver': 'OFI', 'verb': 'send'}]),
])
def test_patterns_at_once(hosts, node, transports):
    """Each pattern over each transport in one run, from a host that takes no part: every pair has its own traffic."""
    tests = [{'testName': f'{pattern} {place}', 'trafficPattern': pattern, **transport}
             for place, transport in enumerate(transports) for pattern in PAIRS]
    scenario = {'duration': 0.5, 'warmupTime': 0, 'testNodes': [{'hostName': 'node[1-4]', **node}], 'tests': tests}
    result = hosts.run('node0', '-f', json.dumps(scenario), '--ssh', hosts.ssh, '--connect_timeout', '30', '--mpirun',
                       SMALL, '--print_json_results', timeout=300)
    assert result.rc in (0, 1), result  # 1: a busy machine, where no message came through a window
    document = check(result.stdout)
    for test in tests:
        of_test = [c for c in document['connections'] if c['testName'] == test['testName']]
        pairs = [(number(c['requestor']), number(c['responder'])) for c in of_test]
        assert len(pairs) == len(set(pairs)) and set(pairs) == PAIRS[test['trafficPattern']], pairs
        check_counts(of_test, lossless=test.get('connectionType') != 'UDP')
    check_clocks(document)


def test_the_uncertainty_of_clocks_covers_their_error(hosts):
    """34 stages on four hosts whose clocks lie exactly 1000 s apart: 102 synchronisations, whatever else goes on."""
    result = hosts.run('node0', '--traffic_pattern', 'ring', '-n', 'node[1-4]', '-r', 'null', '-s',
                       ','.join(map(str, range(64, 98))), '-i', '10', '-w', '0', '--ssh', hosts.ssh,
                       '--connect_timeout', '30', '--print_json_results', timeout=120)
    assert result.rc in (0, 1), result  # 1: a busy machine
    found = [(abs(clock['offsetNsec'] - place * 1000 * 10**9), clock)
             for place, rank in enumerate(check(result.stdout)['ranks']) if place for clock in rank['stageClocks']]
    off = sorted(off for off, _ in found)
    assert len(off) == 102 and off[len(off) // 4] < 50000, off
    assert all(error <= clock['errorNsec'] for error, clock in found), found
    assert sum(error <= clock['u95Nsec'] <= clock['errorNsec'] for error, clock in found) >= 0.95 * len(off), found


@pytest.mark.parametrize('device', [('-r', 'null'), ('-c', 'TCP', '-s', '1000')])
def test_skew_is_off_by_less_than_it_says(hosts, tmp_path, device):
    """Four senders whose clocks lie exactly 1000 s apart: true skew, the reported one's error, what came and when."""
    log = tmp_path / 'bursts.csv'
    result = hosts.run('node0', '--traffic_pattern', 'all2all', '-n', 'node[1-4]', *device, '--burst_profile',
                       'sync_burst', '--burst_size', '4', '--burst_pause', '10', '-D', '1.5', '-w', '0', '--ssh',
                       hosts.ssh, '--connect_timeout', '30', '--burst_log', log, '--print_json_results', timeout=120)
    assert result.rc in (0, 1), result  # 1: a busy machine, where a sender had no burst
    bursts = check(result.stdout)['aggregatedResults']['perTest'][0]['bursts']
    bound, rows = bursts['together']['clockErrorUsec'] * 1000, list(csv.DictReader(log.open()))
    check_skew(bursts, bound, rows)
    if 'null' in device:
        assert bursts['volley'] is None and bursts['arrivals'] is None  # nothing arrives
        return
    came = bursts['arrivals'] or {'receivers': 0}  # a busy machine, where all came behind the window
    assert came['receivers'] <= 4 and bursts['volley']['senders'] == 3  # all but the one that judges
    assert bursts['volley']['clocksAndPathsUsec'] < 1e8  # clocks as they stand are ten times as far apart
    for row in rows:
        first, last = int(row['first_arrival_ns'] or 0), int(row['last_arrival_ns'] or 0)
        assert not first or int(row['planned_ns']) - 1_000_000 <= first <= last, row  # of bursts 10 ms apart


def check_skew(bursts, bound, rows):
    """Against the true offsets."""
    together, slots = bursts['together'], {}
    for row in rows:
        number = int(row['sender'].removeprefix('node'))
        off = int(row['clock_offset_ns']) - (number - 1) * 1000 * 10**9  # of node1's clock, which is rank 0's
        assert abs(off) <= bound and (off == 0 or number > 1), row
        rung = int(row['doorbell_ns'])
        slots.setdefault(row['burst'], []).append((rung, rung + off))
    skews = [tuple(max(at) - min(at) for at in zip(*times)) for times in slots.values() if len(times) == 4]
    assert bursts['senders'] == 4 and len(skews) == together['completeBursts'], bursts
    assert all(abs(said - true) <= bound for said, true in skews)
    if skews:
        assert together['startSkew']['maxUsec'] * 1000 == pytest.approx(max(said for said, _ in skews), abs=1)
        said = sorted(said for said, _ in skews)[(len(skews) - 1) // 2]
        assert together['startSkew']['p50Usec'] * 1000 == pytest.approx(said, rel=0.01)


def test_hosts_that_cannot_take_part_are_all_named(hosts, tmp_path):
    """Before anything starts; the document has every planned connection all the same."""
    result = hosts.run('node0', '--traffic_pattern', 'ring', '-n', 'node1,node8,node9', '--ssh', hosts.ssh, '-r',
                       'null', '-j', str(tmp_path / 'result.json'), timeout=60)
    assert result.rc == 1 and "'node8'" in result.stderr and "'node9'" in result.stderr, result
    assert "'node1'" not in result.stderr
    document = check(json.loads((tmp_path / 'result.json').read_text()))
    assert document['status'] == 'failed' and len(document['connections']) == 3


def ranks_of(hosts):
    """The processes of ranks that run now."""
    return [pid for pid, words in hosts.programs().items() if words.endswith(' rank ')]


def received(pid):
    """Bytes that came to the host of a process."""
    lines = Path(f'/proc/{pid}/net/dev').read_text().splitlines()
    return int(next(line for line in lines if 'eth0' in line).split(':')[1].split()[0])


def wait_for_traffic(hosts, count):
    deadline = time.monotonic() + 60 * SCALE
    first = {}
    while time.monotonic() < deadline:
        now = {pid: received(pid) for pid in ranks_of(hosts)}
        first = {**now, **first}
        if len(now) == count and all(now[pid] > first[pid] + 50_000_000 for pid in now):
            return
        time.sleep(0.1)
    raise AssertionError('no traffic')


def test_a_host_that_is_cut_off_is_named(hosts, tmp_path):
    """It ends by itself, with one sentence and a whole document, and no rank is left, on the lost host neither."""
    path = tmp_path / 'result.json'
    process = hosts.start('node0', '--traffic_pattern', 'ring', '-n', 'node[1-3]', '--ssh', hosts.ssh, '-c', 'TCP',
                          '-D', '60', '-w', '0', '--connect_timeout', '30', '-j', path)
    try:
        wait_for_traffic(hosts, 3)
        begin = time.monotonic()
        hosts.link('node2', 'down')
        result = process.wait(60)
        took = time.monotonic() - begin
        assert not hosts.leftovers()
    finally:
        hosts.link('node2', 'up')
        process.discard()
    document = check(json.loads(path.read_text()))
    assert result.rc == 1 and document['status'] == 'failed' and len(document['connections']) == 3, result
    assert re.search(r"host 'node[123]' .* has been silent for 4 s", document['error']), document['error']
    assert took < 10 * SCALE  # 6 s, also where 19 processes want 2 cores


FULL = 'mount -t tmpfs -o size=8k tmpfs "$0" || exit 77; "$@"; rc=$?; ls -A "$0" >&2; exit $rc'


def test_a_full_disk_is_one_sentence(hosts, tmp_path):
    """What was measured is on the terminal; of the document nothing is left, not half of it neither."""
    result = hosts.command('node0', 'unshare', '--mount', 'sh', '-c', FULL, tmp_path, hosts.fabperf,
                           '--traffic_pattern', 'all2all', '-n', 'node[1-2]', '-r', 'null', '-i', '1000', '-w', '0',
                           '--ssh', hosts.ssh, '-j', tmp_path / 'result.json', '--connect_timeout', '30', timeout=60)
    assert result.rc == 1 and result.stdout.startswith('Bandwidth: ALL_TO_ALL'), result
    assert result.stderr == f'fabperf: cannot write the result to {tmp_path}/result.json: No space left on device\n'
    assert not hosts.leftovers()
