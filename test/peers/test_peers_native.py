"""fabperf beside qperf, iperf3 and sockperf: what is counted is what the kernel saw, and latencies are alike."""
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'bench'))
import programs  # noqa: E402

MIB = 1 << 20
# In a network namespace of its own: the loopback's bytes and the UDP counters are those of the command alone.
SNAPSHOT = 'cat /proc/net/dev /proc/net/snmp'
ALONE = f'''ip link set lo up || exit 77
folder="$1"; shift
{SNAPSHOT} >"$folder/before"
"$@" >"$folder/output" 2>&1; status=$?
{SNAPSHOT} >"$folder/after"
exit $status'''


def need(*names):
    for name in names:
        if not shutil.which(name):
            pytest.skip(f'{name} is not installed')


def two_cores():
    if not {programs.SERVER_CORE, programs.CLIENT_CORE} <= os.sched_getaffinity(0):
        pytest.skip('two processors are needed to pin server and client')


def counters(text):
    """Received bytes of lo and the counters of UDP, by name."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(':')
        if name.strip() == 'lo':
            found['bytes'] = int(rest.split()[0])
        if name == 'Udp' and rest.split()[0].isdigit():
            found.update(zip(found.pop('names'), map(int, rest.split())))
        elif name == 'Udp':
            found['names'] = rest.split()
    return found


@pytest.fixture
def alone(tmp_path):
    """alone(words...) → (output, how much each counter grew) of a command in a network namespace of its own."""
    need('unshare', 'ip')
    if subprocess.run(['unshare', '--net', 'true'], capture_output=True).returncode:
        pytest.skip('this user, or container, may not make a network namespace')

    def call(*words):
        ran = subprocess.run(['unshare', '--net', 'bash', '-c', ALONE, 'alone', str(tmp_path), *map(str, words)],
                             stdin=subprocess.DEVNULL, timeout=120)
        output = (tmp_path / 'output').read_text()
        assert ran.returncode == 0, output
        before, after = (counters((tmp_path / name).read_text()) for name in ('before', 'after'))
        return output, {name: after[name] - before[name] for name in after}
    return call


def loss_of(document):
    """What a run says that it sent, received and lost."""
    return document['connections'][0]['loss']


@pytest.mark.parametrize('size, count', [(65536, 4000), (1000, 100000)])
def test_tcp_bytes_are_those_on_the_wire(alone, fabperf, tmp_path, size, count):
    file = tmp_path / 'result.json'
    _, grown = alone(fabperf, '-n', '127.0.0.1', '-c', 'TCP', '-s', size, '-i', count, '-w', 0, '-j', file)
    loss = loss_of(json.loads(file.read_text()))
    assert (loss['sent'], loss['received'], loss['lost']) == (count, count, 0)
    assert size * count <= grown['bytes'] <= 1.1 * size * count + MIB


def test_iperf3_bytes_are_those_on_the_wire(alone):
    """The yardstick of the test before holds for a peer too."""
    need('iperf3')
    both = ('iperf3 -s -1 -p 5201 >/dev/null & until ss -ltn | grep -q :5201; do sleep 0.05; done; '
            'iperf3 -c 127.0.0.1 -p 5201 -l 64K -n 256M -J; status=$?; wait; exit $status')
    output, grown = alone('bash', '-c', both)
    received = json.loads(output)['end']['sum_received']['bytes']
    assert received <= grown['bytes'] <= 1.1 * 256 * MIB + MIB


@pytest.mark.parametrize('options', [(), ('--gso', 'off'), ('--gso', 'off', '--sock_buf', '4Ki')])
def test_udp_counts_are_the_kernels(alone, fabperf, tmp_path, options):
    """Sent, received and lost are what the kernel's own counters say, also where a small buffer overflows."""
    file = tmp_path / 'result.json'
    _, grown = alone(fabperf, '-n', '127.0.0.1', '-c', 'UDP', '-s', 64, '-i', 200000, '-w', 0, '-j', file, *options)
    loss = loss_of(json.loads(file.read_text()))
    assert loss['sent'] == 200000
    assert loss['received'] + loss['lost'] == loss['sent']
    if '--gso' in options:  # a datagram is a packet: each count is the same number
        assert (grown['OutDatagrams'], grown['InDatagrams']) == (loss['sent'], loss['received'])
        assert grown['RcvbufErrors'] == loss['lost']


def in_turn(rounds, *runs):
    """Runs the functions in turn, so that what disturbs one disturbs the other; the figures of each."""
    columns = [[] for _ in runs]
    for _ in range(rounds):
        for column, run in zip(columns, runs):
            column.append(run())
    return columns


def test_blocking_latency_is_like_sockperfs(fabperf):
    """Both sleep in the kernel on the same cores: medians within a factor of three."""
    need('sockperf', 'taskset')
    two_cores()
    us = programs.Fabperf(fabperf)
    ours, theirs = in_turn(
        3, lambda: us.measure('-c', 'TCP', '-m', 'lat', '-s', 14, '--events', 'on', seconds=1, warmup=0.2)['median'],
        lambda: programs.sockperf_tcp(1)['median'])
    ratio = statistics.median(ours) / statistics.median(theirs)
    assert 1 / 3 < ratio < 3, f'ours {ours}, sockperf {theirs} (s)'


def test_streams_are_of_one_order(fabperf):
    """Neither qperf nor fabperf is ten times faster: a unit would be wrong somewhere."""
    need('qperf', 'taskset')
    two_cores()
    us = programs.Fabperf(fabperf)
    ours, theirs = in_turn(3, lambda: us.measure('-c', 'TCP', '-s', '64Ki', seconds=1, warmup=0.2)['bytes'],
                           lambda: programs.qperf('tcp_bw', 65536, 1)['bytes'])
    ratio = statistics.median(ours) / statistics.median(theirs)
    assert 0.3 < ratio < 20, f'ours {ours}, qperf {theirs} (bytes/s)'
