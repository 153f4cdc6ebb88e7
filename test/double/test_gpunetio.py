"""--engine gpunetio with a stand-in for its plug-in, whose GPU is a thread; and the plug-in itself, which compiles."""
import os
import shutil
import subprocess

import pytest

from double.runs import check_bandwidth

WORDS = ['-d', 'double0', '-r', 'dv', '--engine', 'gpunetio', '-M', 'cuda', '-s', '64', '-i', '200', '-w', '0']
JSON = '--print_json_results'
NVCC = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'


@pytest.fixture
def gpu(double, library, monkeypatch):
    """gpu(words, doca='', plugin=True, …) → Outcome of a run with stand-ins for plug-in and libcuda."""
    folder = library.parent / 'double'

    def call(words, doca='', plugin=folder / 'doca', **faults):
        monkeypatch.setenv('FABPERF_DOCA', doca)
        monkeypatch.setenv('LD_LIBRARY_PATH', str(plugin))
        return double([*words, '--cuda_lib_path', str(folder / 'cuda')], **faults)
    return call


@pytest.fixture
def refused(gpu):
    def call(words, *parts, **more):
        outcome = gpu(words, **more)
        lines = outcome.stderr.splitlines()
        assert outcome.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), outcome
        assert not outcome.alive()
        for part in parts:
            assert part in lines[0], f'"{part}" is not in: {lines[0]}'
    return call


def test_traffic(gpu):
    outcome = gpu([*WORDS, '-q', '2', '-N', '2', '--cq_mod', '1', JSON])
    check_bandwidth(outcome, 'write')
    facts = outcome.connection['requestor']['facts']
    assert facts['postApi'] == 'gpunetio' and facts['mtu'] == 4096 and outcome.client['sent'] == 800


def test_slots_and_sizes(gpu):
    """More slots than requests, so that the ring moves on; and each size begins anew."""
    words = [word if word != '64' else '64,4K' for word in WORDS]
    outcome = gpu([*words, '--working_set', '64Ki', '-t', '4', JSON], 'tell')
    assert outcome.rc == 0 and 'libdoca: 400 sends' in outcome.stderr and 'alive' not in outcome.stderr, outcome
    assert [row['status'] for row in outcome.json['connections']] == ['ok', 'ok']


def round_trips(size='64', count='20'):
    return [*WORDS[:WORDS.index('-s')], '-m', 'lat', '-w', '0', '-s', size, '-i', count]


@pytest.mark.parametrize('words, more, count', [
    (('1',), (), 20), (('64',), ('-q', '2'), 40), (('64',), ('-N', '2'), 40), (('4K', '300'), (), 300)])
def test_round_trips_are_timed_by_the_gpu(gpu, words, more, count):
    """Each is one message each way, of which the device tells; numbers go round behind 256 of them."""
    outcome = gpu([*round_trips(*words), *more, JSON], timeout=60)
    results = outcome.connection
    latency = results['results']['latResults']
    assert outcome.rc == 0 and latency['samples'] == count and latency['halved'], outcome
    assert 0 < latency['minUsec'] <= latency['medianUsec'] <= latency['maxUsec']
    assert outcome.client['sent'] == outcome.server['sent'] == count
    assert sum(row['totalReceived'] or 0 for row in results['resultsPerProcess'] if row['side'] == 'responder') == count
    assert results['requestor']['facts']['timedBy'] == 'GPU, in steps of 7 ns'
    assert not outcome.alive() and 'alive' not in outcome.stderr


def test_round_trips_of_each_size_begin_anew(gpu):
    outcome = gpu([*round_trips('64,1,8'), JSON], timeout=60)
    rows = [row['results']['latResults']['samples'] for row in outcome.json['connections']]
    assert outcome.rc == 0 and rows == [20, 20, 20], outcome


@pytest.mark.parametrize('side', ['client', 'server'])
def test_a_round_trip_fails(refused, side):
    refused(round_trips(), 'RC write on double0', 'retry counter exceeded', **{side: 'status=7:RETRY_EXC_ERR'})


@pytest.mark.parametrize('call, parts', [
    ('gpu_open', ('cannot use GPU 0', 'gpu_open: planted')), ('gpu_qp_open', ('cannot create queue pair 1', 'planted')),
    ('gpu_qp_start', ('cannot start on queue pair', 'planted')),
    ('doca_verbs_qp_modify', ('INIT', "doca_verbs_qp_modify: DOCA's error 5"))])
def test_call_fails(refused, call, parts):
    refused(WORDS, *parts, doca=f'fail={call}:5')


def test_completion_fails(refused):
    refused(WORDS, 'RC write on double0', 'transport retry counter exceeded', client='status=50:RETRY_EXC_ERR')


def test_too_many_queue_pairs(refused):
    refused([*WORDS, '-q', '51', '-N', '2'], 'at most 100 queue pairs', 'not 102', '--qps')


def test_completions_of_each(refused):
    refused([*WORDS, '--cq_mod', '7'], '--engine gpunetio does not go with --cq_mod 7', 'a completion of each message')


def test_no_plugin(refused, tmp_path):
    refused(WORDS, 'fabperf-gpunetio.so', 'No such file', 'nvcc', '--engine cpu', plugin=tmp_path)


@pytest.mark.parametrize('source, part', [
    ('int nothing;', 'of another version'), ('unsigned fabperf_gpunetio[16];', 'of another version'),
    ('unsigned fabperf_gpunetio[16] = { 2 };', 'needs doca_verbs_qp_get_qpn')])
def test_wrong_plugin(refused, tmp_path, source, part):
    subprocess.run(['cc', '-shared', '-fPIC', '-xc', '-', '-o', tmp_path / 'fabperf-gpunetio.so'], input=source,
                   text=True, check=True)
    refused(WORDS, part, plugin=tmp_path)


# --- the plug-in itself ---

def compiles(root, *words):
    subprocess.run([*words, '-std=c++17', f'-I{root / "src"}', str(root / 'src/driver/gpunetio.cu')], check=True)


@pytest.mark.parametrize('side', ['host', 'device'])
@pytest.mark.skipif(not shutil.which('clang++'), reason='there is no clang++')
def test_compiles_against_what_it_needs(root, side):
    """Stubs have the names, types and parameters of CUDA's runtime and the library that it uses, and nothing else."""
    compiles(root, 'clang++', '-xcuda', f'--cuda-{side}-only', '--cuda-gpu-arch=sm_70', '-nocudainc', '-nocudalib',
             '--cuda-path=/nonexistent', '-fsyntax-only', '-Wno-unknown-cuda-version', '-Wall', '-Wextra', '-Werror',
             f'-I{root / "test/double/gpunetio"}')


@pytest.mark.skipif('GPUNETIO_HOME' not in os.environ, reason='GPUNETIO_HOME, the library with its headers, is not set')
def test_compiles_with_nvcc(root):
    compiles(root, NVCC, '-arch=sm_80', '-c', '-o', '/dev/null', f'-I{os.environ["GPUNETIO_HOME"]}/include')
