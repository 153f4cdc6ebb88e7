"""Cores and buffers follow the device's NUMA node, on a machine of two nodes and three devices that hwloc is shown."""
import itertools

import pytest

from double.runs import check_bandwidth, options

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">'


def machine(nodes, lone):
    """hwloc's XML of a machine: nodes is a list of (cores, devices); the device lone is as near to each."""
    numbers = itertools.count(1)
    every = [core for cores, _ in nodes for core in cores]

    def place(cores, these):
        cpus, memory = (hex(sum(1 << bit for bit in bits)) for bits in (cores, these))
        return (f'cpuset="{cpus}" complete_cpuset="{cpus}" nodeset="{memory}" complete_nodeset="{memory}" '
                f'gp_index="{next(numbers)}"')

    def device(name):
        return f'<object type="OSDev" name="{name}" subtype="OpenFabrics" osdev_type="3" gp_index="{next(numbers)}"/>'

    packages = ''
    for node, (cores, devices) in enumerate(nodes):
        inner = f'<object type="NUMANode" os_index="{node}" {place(cores, [node])} local_memory="1000000"/>'
        inner += ''.join(f'<object type="Core" os_index="{core}" {place([core], [node])}><object type="PU" '
                         f'os_index="{core}" {place([core], [node])}/></object>' for core in cores)
        inner += ''.join(device(name) for name in devices)
        packages += f'<object type="Package" os_index="{node}" {place(cores, [node])}>{inner}</object>'
    top = place(every, range(len(nodes)))
    cpus, memory = hex(sum(1 << core for core in every)), hex((1 << len(nodes)) - 1)
    return (f'{HEAD}<object type="Machine" os_index="0" allowed_cpuset="{cpus}" allowed_nodeset="{memory}" {top}>'
            f'{packages}{device(lone)}</object></topology>\n')


@pytest.fixture(autouse=True)
def two_nodes(tmp_path, monkeypatch):
    file = tmp_path / 'machine.xml'
    file.write_text(machine([([0, 1, 2, 3], ['double0']), ([4, 5, 6, 7], ['double1'])], 'double2'))
    monkeypatch.setenv('HWLOC_XMLFILE', str(file))


@pytest.mark.parametrize('client, server, expected', [
    ('double0', 'double1', ((0, [1, 2]), (1, [4, 5]))),
    ('double1', 'double0', ((1, [4, 5]), (0, [1, 2]))),
    ('double1', 'double1', ((1, [4, 5]), (1, [6, 7]))),  # neither side takes the other's
])
def test_cores_and_buffers_are_on_the_devices_node(double, client, server, expected):
    words = [*options('RC', 'write', 'bw', '-N', '2', '--server_device', server, '--print_json_results')]
    words[words.index('double0')] = client
    outcome = double(words, both='devices=3')
    check_bandwidth(outcome, 'write')
    for side, (node, cores) in zip(('requestor', 'responder'), expected):
        rows = [row for row in outcome.connection['resultsPerProcess'] if row['side'] == side]
        assert outcome.connection[side]['numaNode'] == node, outcome.connection[side]
        assert [(row['numaNode'], row['core']) for row in rows] == [(node, core) for core in cores]


def test_without_a_node_the_first_cores_counts(double):
    words = [*options('RC', 'write', 'bw', '-C', '6,7', '--server_cores', '2,3', '--print_json_results')]
    words[words.index('double0')] = 'double2'
    outcome = double(words, both='devices=3')
    check_bandwidth(outcome, 'write')
    assert [outcome.connection[side]['numaNode'] for side in ('requestor', 'responder')] == [1, 0]
