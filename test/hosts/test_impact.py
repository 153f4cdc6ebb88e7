"""Congestion impact on wires of known rate and buffer: what a victim has left of one, and how long it waits at one."""
import json
import shutil

import pytest

from e2e.result_schema import check

pytestmark = pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')
RATE, BUFFER = 4_000_000, 40_000  # bit/s, bytes: so slow that a busy machine matters little
LOAD = {'msgSize': 1400, 'rate': 2 * RATE, 'arrivals': 'poisson', 'endMargin': 0.3}


def holds(bulk, rpc):
    """What the wires make of both victims; with a margin for the windows of the phases, which no wire knows of."""
    phases = [bulk[key + 'GbSec'] for key in ('isolatedBefore', 'loaded', 'isolatedAfter')]
    return (1.2 < (bulk['factor'] or 0) < 6 and (rpc['factor'] or 0) > 1.5 and None not in phases
            and max(phases) * 1e9 < 1.1 * RATE)


def test_a_narrow_wire_and_a_full_buffer(hosts):
    """Bandwidth: alone the victim has the wire towards node1, beside another that offers as much about half of it.
    Latency: each message towards node4 waits in a buffer that another keeps full."""
    def part(name, role, nodes, **more):
        return {'testName': name, 'role': role, 'testNodes': [{'hostName': nodes}]} | more
    tests = [part('bulk', 'victim', 'node2,node1', **LOAD),
             part('rpc', 'victim', 'node2,node4', metric='lat', msgSize=64),
             part('load 1', 'aggressor', 'node3,node1', **LOAD), part('load 4', 'aggressor', 'node3,node4', **LOAD)]
    scenario = {'trafficPattern': 'ONE_TO_ONE', 'connectionType': 'UDP', 'events': True, 'duration': 1.5,
                'warmupTime': 0.3, 'tests': tests}
    for node in ('node1', 'node4'):
        hosts.narrow(node, str(RATE), BUFFER)
    try:
        for _ in range(4):
            result = hosts.run('node0', '-f', json.dumps(scenario), '--ssh', hosts.ssh, '--connect_timeout', '60',
                               '--print_json_results', timeout=300)
            document = check(result.stdout)
            assert result.rc == 0 or 'no message completed' in result.stderr, result
            bulk, rpc = document['congestionImpact']['victims']
            bulk, rpc = bulk['bandwidth'], rpc['latencyMean']
            if holds(bulk, rpc):
                break  # else the machine was busier than the wire
    finally:
        for node in ('node1', 'node4'):
            hosts.narrow(node, '10gbit', 10_000_000)
    assert holds(bulk, rpc), (bulk, rpc)
