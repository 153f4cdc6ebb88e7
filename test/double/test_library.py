"""The stand-in library itself: it answers every call that the executable makes, and refuses faults it cannot read."""
import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from double.runs import calls, options
from processes import SCALE

HARMLESS = {'ibv_static_providers', 'ibv_wc_status_str', 'ibv_port_state_str', 'ibv_node_type_str',
            'rdma_event_str'}  # only texts
# By rdma_cm 'fabperf qperf' makes and parts queue pairs in its own way: tested on soft-RoCE (test/vm/guest_qperf.py).
QPERF_CM = {'rdma_create_qp', 'rdma_destroy_qp', 'rdma_disconnect'}


def symbols(path, *flags):
    """Names of dynamic symbols without their versions."""
    text = subprocess.run(['nm', '-D', *flags, path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r' [TUW] (_?(?:ibv|rdma)_\w+)', text))


def test_answers_all(fabperf, library):
    needed = symbols(fabperf, '--undefined-only') - HARMLESS - QPERF_CM
    assert needed and not needed - symbols(library, '--defined-only')


def test_covers_all(fabperf):
    """Each call of the executable that can fail is in the table of calls."""
    sure = {'ibv_free_device_list', 'ibv_get_device_name', 'ibv_ack_cq_events', 'ibv_qp_to_qp_ex', 'rdma_get_src_port',
            'rdma_destroy_event_channel'}
    needed = {name.removeprefix('_') for name in symbols(fabperf, '--undefined-only') - HARMLESS - QPERF_CM - sure}
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


def listens(port):
    """Whether somebody on this machine listens at the TCP port."""
    lines = [line.split() for name in ('tcp', 'tcp6') for line in Path(f'/proc/net/{name}').read_text().splitlines()]
    return any(line[1].endswith(f':{port:04X}') and line[3] == '0A' for line in lines)


def test_other_programs(environment, free_port):
    """What perftest does with a device works here as well: the library is not only what fabperf expects."""
    lines = (('ib_write_bw',), ('ib_send_lat',), ('ib_read_lat',), ('ib_atomic_bw',), ('ib_send_bw', '-c', 'UC'),
             ('ib_send_lat', '-c', 'UD'))
    if not shutil.which('ib_write_bw'):
        pytest.skip('ib_write_bw is not installed (perftest)')
    if '__asan_init' in symbols_of_library(environment):
        pytest.skip('the library is built with a sanitizer, perftest is not')
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda words: perftest(words, free_port(), environment()), lines))


def perftest(words, port, variables):
    """One of its programs with itself: 200 messages arrive."""
    command = [*words, '-d', 'double0', '-x', '3', '-n', '200', '-p', str(port)]
    own = {name: value for name, value in variables.items() if name != 'LD_LIBRARY_PATH'}  # it needs all of libmlx5
    run = dict(env=dict(os.environ, **own), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    server = subprocess.Popen(command, **run)
    try:
        deadline = time.monotonic() + 10 * SCALE
        while not listens(port) and time.monotonic() < deadline:
            time.sleep(0.02)
        client = subprocess.run([*command, 'localhost'], **run, timeout=30 * SCALE)
        assert client.returncode == 0 and re.search(r'^ *\d+ +200 ', client.stdout, re.M), client.stdout
        assert server.wait(10 * SCALE) == 0
    finally:
        server.kill()
        server.wait()


def symbols_of_library(environment):
    """Undefined symbols of the preloaded library as one text."""
    return subprocess.run(['nm', '-D', '--undefined-only', environment()['LD_PRELOAD']], capture_output=True,
                          text=True, check=True).stdout
