"""Where the workers run: the cores that were asked for, others where possible, and what the report says of it."""
import json
import os
import re

import pytest

pytestmark = pytest.mark.waits

QUICK = ('-r', 'null', '-D', '0.1', '-w', '0')
CORES = sorted(os.sched_getaffinity(0))
ABSENT = max(os.sched_getaffinity(0) | {os.cpu_count() - 1}) + 1

needs_two = pytest.mark.skipif(len(CORES) < 2, reason='this machine has one core')


def placed(document):
    """Cores of both sides, in the workers' order."""
    results = document['connections'][0]
    for side in ('requestor', 'responder'):
        rows = [row['core'] for row in results['resultsPerProcess'] if row['side'] == side]
        assert rows == results[side]['cores']
    return results['requestor']['cores'], results['responder']['cores']


def refused(result, *parts):
    lines = result.stderr.splitlines()
    assert result.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), result
    for part in parts:
        assert re.search(part, lines[0]), lines[0]
    assert not result.stdout


@pytest.fixture
def refusal(run, free_port):
    """refusal(*options) → Result of a client that must not get as far as traffic."""
    return lambda *options: run('-n', 'localhost', '--port', free_port(), *QUICK, *options)


@needs_two
def test_both_sides_on_cores_of_their_own(measure):
    results = measure(*QUICK)
    client, server = placed(results)
    assert len(client) == len(server) == 1 and client != server
    assert set(client + server) <= set(CORES)
    assert not any(results['connections'][0][side]['coresShared'] for side in ('requestor', 'responder'))


@pytest.mark.parametrize('workers', [1, 2, 5])
def test_more_workers_than_cores_share_them(measure, workers):
    document = measure(*QUICK, '-N', workers * len(CORES))
    client, server = placed(document)
    assert len(client) == len(server) == workers * len(CORES)
    assert {core: client.count(core) for core in CORES} == dict.fromkeys(CORES, workers)  # spread evenly
    results = document['connections'][0]
    assert results['requestor']['coresShared'] and results['responder']['coresShared']
    assert 'coresShared' in {remark['id'] for remark in results['remarks']}


@pytest.mark.parametrize('core', CORES[:2])
def test_a_named_core(measure, core):
    """The server has another one when it is free to choose."""
    client, server = placed(measure(*QUICK, '-C', core, '--server_cores', core))
    assert client == server == [core]


@needs_two
def test_named_cores_make_as_many_workers(measure):
    client, server = placed(measure(*QUICK, '-C', f'{CORES[1]},{CORES[0]}'))
    assert client == [CORES[1], CORES[0]] and len(server) == 2


@needs_two
@pytest.mark.parametrize('text', [f'{CORES[0]}-{CORES[0] + 1}', f'{CORES[0]},{CORES[0] + 1}'])
def test_ranges_and_lists(measure, text):
    assert placed(measure(*QUICK, '-C', text))[0] == [CORES[0], CORES[0] + 1]


@needs_two
def test_the_server_has_its_own_cores(measure):
    client, server = placed(measure(*QUICK, '-C', CORES[1], '--server_cores', CORES[0]))
    assert (client, server) == ([CORES[1]], [CORES[0]])


@needs_two
def test_a_running_server_keeps_its_cores(run, serve):
    from e2e.result_schema import check
    _, port = serve('-C', CORES[0])
    result = run('-n', 'localhost', '--port', port, '--launch_server', 'off', '--print_json_results', *QUICK)
    assert result.rc == 0, result
    assert placed(check(result.stdout))[1] == [CORES[0]]


@needs_two
@needs_two
@pytest.mark.parametrize('excluded', CORES[:2])
def test_a_server_keeps_off_its_own_excluded_cores(run, serve, excluded):
    _, port = serve('--exclude_cores', excluded)
    result = run('-n', 'localhost', '--port', port, *QUICK, '--print_json_results')
    assert result.rc == 0, result
    _, server = placed(json.loads(result.stdout))
    assert excluded not in server


@pytest.mark.parametrize('excluded', CORES[:2])
def test_excluded_cores_are_not_used(measure, excluded):
    client, server = placed(measure(*QUICK, '-N', '2', '--exclude_cores', excluded))
    assert excluded not in client


@pytest.mark.parametrize('cores', [f'{ABSENT}', f'{CORES[0]},{ABSENT}', f'{ABSENT}-{ABSENT + 3}'])
def test_a_core_that_is_not_there(refusal, cores):
    refused(refusal('-C', cores), str(ABSENT))


def test_no_core_is_left(refusal):
    refused(refusal('--exclude_cores', ','.join(map(str, CORES))), 'exclude|core')


def test_a_server_without_the_core(refusal):
    refused(refusal('--server_cores', ABSENT), str(ABSENT))


@needs_two
def test_cores_outside_the_mask_are_refused(fabperf, free_port):
    """What taskset or a cgroup forbids is not there for us."""
    from processes import Process
    words = ['taskset', '-c', CORES[0], fabperf, '-n', 'localhost', '--port', free_port(), *QUICK, '-C', CORES[1]]
    process = Process(words, program=fabperf)
    try:
        refused(process.wait(), str(CORES[1]))
    finally:
        process.discard()


@needs_two
@pytest.mark.parametrize('workers', [1, 2])
def test_the_mask_is_respected(fabperf, free_port, workers):
    from e2e.result_schema import check
    from processes import Process
    words = ['taskset', '-c', CORES[1], fabperf, '-n', 'localhost', '--port', free_port(), *QUICK, '-N', workers,
             '--print_json_results']
    process = Process(words, program=fabperf)
    try:
        result = process.wait()
    finally:
        process.discard()
    assert result.rc == 0, result
    document = check(result.stdout)
    client, server = placed(document)
    assert set(client + server) == {CORES[1]}  # the launched server inherits the mask
    assert document['connections'][0]['requestor']['coresShared']


@pytest.mark.skipif(not os.path.isdir('/sys/devices/system/node/node0'), reason='this machine tells no NUMA nodes')
def test_the_numa_node_of_the_buffers_is_named(measure):
    results = measure(*QUICK, '-N', '2')['connections'][0]
    for row in results['resultsPerProcess']:
        assert os.path.isdir(f"/sys/devices/system/node/node{row['numaNode']}/cpu{row['core']}")
    assert results['requestor']['numaNode'] == results['resultsPerProcess'][0]['numaNode']
