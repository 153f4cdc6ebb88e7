"""Two soft-RoCE devices on the two ends of a wire that loses packets: loss is exact, and the counters tell of it."""
import json
import subprocess

import pytest

UP = '''
set -e
modprobe -a sch_netem veth
ip link add v1 type veth peer name v2
sysctl -qw net.ipv4.conf.all.rp_filter=0
ip rule add pref 50 lookup local  # else packets to this machine's own addresses take no wire
ip rule del pref 0
for i in 1 2; do
    j=$((3 - i))
    ip addr add 10.$i.1.1/24 dev v$i
    sysctl -qw net.ipv6.conf.v$i.disable_ipv6=1  # so that nothing but the test's packets takes the wire
    ip link set v$i mtu 4200 up
    sysctl -qw net.ipv4.conf.v$i.accept_local=1 net.ipv4.conf.v$i.rp_filter=0
    ip rule add pref 1$i iif lo to 10.$j.1.1 lookup 10$i
    ip route add 10.$j.1.1 dev v$i table 10$i
    ip neigh replace 10.$j.1.1 lladdr $(cat /sys/class/net/v$j/address) dev v$i nud permanent
    rdma link add rxe$i type rxe netdev v$i
    tc qdisc add dev v$i root netem loss 3%
done
'''
DOWN = '''
ip rule add pref 0 lookup local
for i in 1 2; do ip rule del pref 1$i; rdma link del rxe$i; done
ip rule del pref 50
ip link del v1
'''


@pytest.fixture
def wire():
    """rxe1 and rxe2; all that one sends to the other crosses the wire."""
    try:
        subprocess.run(['bash', '-c', UP], check=True)
        yield
    finally:
        subprocess.run(['bash', '-c', DOWN], check=False)


def moved(side, source):
    """Counters of one source that moved, by name."""
    return {counter['name']: counter['difference'] for counter in side['counters']
            if counter['source'] == source and counter['difference']}


def test_loss_is_counted(run, wire):
    """UC: what was lost on the wire is what the devices' own counts differ by. RC: sent again until all is there."""
    got = {}
    for connection, verb in (('UC', 'write_imm'), ('RC', 'write')):
        result = run('-n', 'localhost', '-d', 'rxe1', '--server_device', 'rxe2', '-c', connection, '-v', verb, '-s',
                     '1024', '-i', '1000', '-w', '0', '--print_json_results', timeout=120)
        assert result.rc == 0, result
        got[connection] = json.loads(result.stdout)['connections'][0]
    lost = got['UC']['loss']['lost']
    assert got['UC']['loss']['sent'] == 1000 and 0 < lost < 200
    assert moved(got['UC']['requestor'], 'rxe1 port 1')['sent_pkts'] == 1000
    arrived = moved(got['UC']['responder'], 'rxe2 port 1')['rcvd_pkts']  # one finds no receive request where it is late
    assert moved(got['UC']['responder'], 'v2')['rx_packets'] >= arrived and 1000 - lost <= arrived < 1000
    assert 'lostBetween' in {remark['id'] for remark in got['UC']['remarks']}
    assert moved(got['RC']['responder'], 'rxe2 port 1')['out_of_seq_request'] > 0
    assert 'countersRetransmission' in {remark['id'] for remark in got['RC']['remarks']}
    assert got['RC']['requestor']['bwResults']['messages'] == 1000


def test_bursts_that_lose(run, wire):
    """Three senders at the same instants: each burst has 8 messages; UC loses some exactly, RC sends them again."""
    got = {}
    for connection in ('UC', 'RC'):
        result = run('-n', 'localhost', '-d', 'rxe1', '--server_device', 'rxe2', '-c', connection, '-v', 'write_imm',
                     '-s', '1024', '-N', '3', '--burst_profile', 'sync_burst', '--burst_size', '8', '--burst_pause',
                     '20', '--burst_count', '40', '-w', '0', '--print_json_results', timeout=120)
        assert result.rc == 0, result
        got[connection] = one = json.loads(result.stdout)['connections'][0]
        bursts, loss = one['bursts'], one['loss']
        assert bursts['senders'] == 3 and bursts['slots'] == 120 and bursts['bursts'] > 20, bursts
        assert loss['sent'] == bursts['messages'] == 8 * bursts['bursts'] == loss['received'] + loss['lost'], one
    lost, sent = got['UC']['loss']['lost'], got['UC']['loss']['sent']
    assert 0 < lost < sent / 5 and moved(got['UC']['requestor'], 'rxe1 port 1')['sent_pkts'] == sent
    assert sent - lost <= moved(got['UC']['responder'], 'rxe2 port 1')['rcvd_pkts'] < sent
    assert got['RC']['loss']['lost'] == 0
    assert moved(got['RC']['responder'], 'rxe2 port 1')['out_of_seq_request'] > 0
    assert 'countersRetransmission' in {remark['id'] for remark in got['RC']['remarks']}
