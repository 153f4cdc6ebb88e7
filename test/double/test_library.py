"""The stand-in library itself: it answers every call that the executable makes, and refuses faults it cannot read."""
import re
import subprocess

import pytest

from double.runs import calls, options

HARMLESS = {'ibv_static_providers', 'ibv_wc_status_str', 'ibv_port_state_str', 'ibv_node_type_str',
            'rdma_event_str'}  # only texts


def symbols(path, *flags):
    """Names of dynamic symbols without their versions."""
    text = subprocess.run(['nm', '-D', *flags, path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r' [TUW] (_?(?:ibv|rdma)_\w+)', text))


def test_answers_all(fabperf, library):
    needed = symbols(fabperf, '--undefined-only') - HARMLESS
    assert needed and not needed - symbols(library, '--defined-only')


def test_covers_all(fabperf):
    """Each call of the executable that can fail is in the table of calls."""
    sure = {'ibv_free_device_list', 'ibv_get_device_name', 'ibv_ack_cq_events', 'ibv_qp_to_qp_ex', 'rdma_get_src_port',
            'rdma_destroy_event_channel'}
    needed = {name.removeprefix('_') for name in symbols(fabperf, '--undefined-only') - HARMLESS - sure}
    known = set(calls()) | {'ibv_reg_mr_iova2'}
    assert not needed - known


@pytest.mark.parametrize('faults', [
    'nonsense', 'fail=ibv_nothing:EIO', 'fail=ibv_open_device:ENOSUCH', 'fail=ibv_open_device', 'status=1:NEVER',
    'drop=x', 'drop=0%', 'mtu=1000', 'devices=99', 'gids=v3/10.0.0.1', 'gids=v2/10.0.0', 'inline=-1', 'delay=1',
    'flip=1:', 'port=sideways', 'memlock=1',
])
def test_unreadable_faults(start, environment, faults):
    result = start('--version', env=environment(faults)).wait(10)
    assert result.rc == 125 and faults.split('=')[0] in result.stderr


def test_nothing_planted_nothing_harmed(double):
    outcome = double(options('UD', 'send', 'bw'))
    for side in (outcome.client, outcome.server):
        assert not any(side[key] for key in ('dropped', 'duplicated', 'flipped', 'delayed'))
