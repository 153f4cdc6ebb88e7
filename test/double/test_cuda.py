"""A GPU's memory on stand-ins for libcuda and the RDMA device: each way to register it, which GPU, each failure."""
import os
from pathlib import Path

import pytest

from double.runs import options

DATA_DIRECT, DMABUF, PEERMEM = 'data direct', 'dmabuf', 'peermem'
CALLS = ['cuInit', 'cuDriverGetVersion', 'cuDeviceGetCount', 'cuDeviceGet', 'cuDeviceGetName', 'cuDeviceGetAttribute',
         'cuDevicePrimaryCtxRetain', 'cuCtxSetCurrent', 'cuMemAlloc', 'cuMemsetD8', 'cuCtxSynchronize',
         'cuMemGetHandleForAddressRange']


@pytest.fixture
def libcuda(library):
    folder = library.parent / 'double' / 'cuda'
    assert (folder / 'libcuda.so.1').exists(), 'run "make" first'
    return folder


@pytest.fixture
def sysfs(tmp_path, root):
    """sysfs(tree, names={}, peermem=True) → a /sys after test/sysfs/TREE.tree, with other names for RDMA devices."""
    def call(tree, names=(), peermem=True):
        top = tmp_path / 'sys'
        for folder in ('class/infiniband', 'bus/pci/devices', *(['module/nvidia_peermem'] if peermem else [])):
            (top / folder).mkdir(parents=True)
        for line in (root / 'test' / 'sysfs' / f'{tree}.tree').read_text().splitlines():
            if line[0] in '#=':
                continue
            node, path, name = line.split()
            device = top / 'devices' / path
            device.mkdir(parents=True)
            (device / 'numa_node').write_text(f'{node}\n')
            if name.startswith('GPU'):
                (top / 'bus/pci/devices' / device.name).symlink_to(device)
            else:
                place = top / 'class/infiniband' / dict(names).get(name, name)
                place.mkdir()
                (place / 'device').symlink_to(device)
        return top
    return call


@pytest.fixture
def cuda(double, libcuda, sysfs, monkeypatch):
    """cuda(words, gpus='', both='', sys=None, …) → Outcome of a run whose libcuda is the stand-in."""
    def call(words, gpus='', sys=None, **faults):
        monkeypatch.setenv('FABPERF_CUDA', gpus)
        place = sys if sys else sysfs('virtual')
        return double([*words, '--cuda_lib_path', str(libcuda), '--sysfs', str(place)], **faults)
    return call


@pytest.fixture
def refused(cuda):
    """The one sentence of a run that fails."""
    def call(words, *parts, **more):
        outcome = cuda(words, **more)
        lines = outcome.stderr.splitlines()
        assert outcome.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), outcome
        for part in parts:
            assert part in lines[0], f'"{part}" is not in: {lines[0]}'
        return lines[0]
    return call


def words(verb='write', metric='bw', *more, connection='RC'):
    return options(connection, verb, metric, *more, '--print_json_results')


def facts(outcome, side='requestor'):
    return outcome.connection[side]['facts']


def check(outcome, metric='bw'):
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    results = outcome.connection['results']
    assert (results['latResults']['samples'] if metric == 'lat' else results['bwResults']['messages']) == 200
    return facts(outcome)


@pytest.mark.parametrize('connection, verb, metric', [
    *(('RC', verb, metric) for verb in ('write', 'write_imm', 'read', 'send', 'atomic_fa', 'atomic_cs')
      for metric in ('bw', 'lat') if (verb, metric) != ('write', 'lat')),
    ('UC', 'write', 'bw'), ('UC', 'send', 'lat'), ('UD', 'send', 'bw')])
def test_verbs(cuda, connection, verb, metric):
    """The stand-in's memory has addresses that the CPU cannot touch: whoever does dies."""
    used = check(cuda(words(verb, metric, '-M', 'cuda_dmabuf', connection=connection)), metric)
    assert used['registration'] == DMABUF and used['inlineSize'] == 0


@pytest.mark.parametrize('kind', ['cuda', 'cuda_auto_detect'])
@pytest.mark.parametrize('device, gpus, way, better', [
    ('data_direct', '', DATA_DIRECT, {}),
    ('', '', DMABUF, {'noDataDirect': 'mlx5dv_get_data_direct_sysfs_path: No such device'}),
    ('data_direct', 'version=12040', DMABUF, {'noDataDirect': 'the driver is for CUDA 12.4: 12.8 is needed'}),
    ('no_dmabuf', '', PEERMEM, {'noDataDirect': 'mlx5dv_get_data_direct_sysfs_path: No such device',
                                'noDmabuf': 'ibv_reg_dmabuf_mr: Operation not supported'}),
    ('data_direct', 'no_dmabuf', PEERMEM, {'noDataDirect': 'GPU 0 offers no dmabuf',
                                           'noDmabuf': 'GPU 0 offers no dmabuf'}),
])
def test_best_way(cuda, kind, device, gpus, way, better):
    used = check(cuda(words('write', 'bw', '-M', kind), gpus=gpus, both=device))
    assert used['registration'] == way
    assert {key: value for key, value in used.items() if key in ('noDataDirect', 'noDmabuf')} == better


@pytest.mark.parametrize('kind, device, way', [
    ('cuda_data_direct', 'data_direct', DATA_DIRECT), ('cuda_dmabuf', 'data_direct', DMABUF),
    ('cuda_peermem', 'data_direct', PEERMEM)])
def test_one_way(cuda, kind, device, way):
    assert check(cuda(words('write', 'bw', '-M', kind), both=device))['registration'] == way


@pytest.mark.parametrize('kind, device, gpus, parts', [
    ('cuda_data_direct', '', '', ('data direct', 'mlx5dv_get_data_direct_sysfs_path', 'ConnectX-8')),
    ('cuda_data_direct', 'data_direct', 'version=12040', ('CUDA 12.8', '12.4')),
    ('cuda_dmabuf', 'no_dmabuf', '', ('ibv_reg_dmabuf_mr', 'Operation not supported')),
    ('cuda_dmabuf', '', 'no_dmabuf,version=11060',
     ('GPU 0 (stand-in GPU A) offers no', 'CUDA 11.7', '11.6')),
    ('cuda_peermem', 'no_peermem', '', ('ibv_reg_mr', 'Bad address')),
    ('cuda', 'no_dmabuf,no_peermem', '', ('in any way', 'data direct: ', 'dmabuf: ', 'peermem: ')),
    ('cuda', '', 'integrated', ('integrated', '-M host')),
    ('cuda', '', 'gpus=0', ('cuInit', 'CUDA_ERROR_NO_DEVICE', 'nvidia-smi')),
    ('cuda', '', 'memory=100000', ('cuMemAlloc', 'CUDA_ERROR_OUT_OF_MEMORY', '--working_set')),
])
def test_impossible(refused, kind, device, gpus, parts):
    refused(options('RC', 'write', 'bw', '-M', kind), *parts, gpus=gpus, both=device)


def test_peermem_is_not_loaded(refused, sysfs):
    place = sysfs('virtual', peermem=False)
    refused(options('RC', 'write', 'bw', '-M', 'cuda_peermem'), 'nvidia_peermem is not loaded', 'modprobe', sys=place)


@pytest.mark.parametrize('name', CALLS)
def test_call_fails(refused, name):
    """One sentence with the call, CUDA's name of the code, and a cause; nothing is left."""
    line = refused(options('RC', 'write', 'bw', '-M', 'cuda_dmabuf'), f'({name})', 'CUDA_ERROR_UNKNOWN',
                   'see nvidia-smi', gpus=f'fail={name}:999')
    assert 'alive' not in line


@pytest.mark.parametrize('name, nth', [('cuDeviceGetAttribute', nth) for nth in range(2, 6)] + [('cuMemAlloc', 2)])
def test_later_call_fails(refused, name, nth):
    refused(options('RC', 'write', 'bw', '-M', 'cuda_dmabuf', '-N', '2'), name, 'CUDA_ERROR_NOT_PERMITTED',
            gpus=f'fail={name}:800:{nth}')


@pytest.mark.parametrize('code, parts', [
    (2, 'full'), (34, 'stub'), (46, 'exclusive'), (100, 'CUDA_VISIBLE_DEVICES'), (803, 'different versions'),
    (12345, 'code 12345')])
def test_causes(refused, code, parts):
    refused(options('RC', 'write', 'bw', '-M', 'cuda'), parts, gpus=f'fail=cuDevicePrimaryCtxRetain:{code}')


@pytest.mark.parametrize('name', ['cuMemFree', 'cuDevicePrimaryCtxRelease'])
def test_ending(cuda, name):
    """What the GPU does not take back goes with the process: the figures stand."""
    assert cuda(words('write', 'bw', '-M', 'cuda'), gpus=f'fail={name}:999').rc == 0


@pytest.mark.parametrize('call, kind, device', [
    ('ibv_reg_dmabuf_mr', 'cuda_dmabuf', ''), ('mlx5dv_reg_dmabuf_mr', 'cuda_data_direct', 'data_direct,'),
    ('mlx5dv_get_data_direct_sysfs_path', 'cuda_data_direct', 'data_direct,'), ('ibv_reg_mr', 'cuda_peermem', '')])
def test_registration_fails(refused, call, kind, device):
    refused(options('RC', 'write', 'bw', '-M', kind), call, 'Input/output error', both=f'{device}fail={call}:EIO')


def test_auto_goes_on(cuda):
    """A way that fails at the device is no end: the next is tried, what the first had made is given back."""
    used = check(cuda(words('write', 'bw', '-M', 'cuda'), both='data_direct,fail=mlx5dv_reg_dmabuf_mr:EIO'))
    assert used['registration'] == DMABUF
    assert used['noDataDirect'] == f'mlx5dv_reg_dmabuf_mr: {os.strerror(5)}'


def test_missing_library(double, tmp_path):
    def refusal(folder):
        outcome = double([*options('RC', 'write', 'bw', '-M', 'cuda'), '--cuda_lib_path', str(folder)])
        assert outcome.rc == 1 and len(outcome.stderr.splitlines()) == 1, outcome
        return outcome.stderr
    assert 'libcuda.so.1' in refusal(tmp_path) and '--cuda_lib_path' in refusal(tmp_path)
    other = next(Path('/usr/lib').glob('*/libjansson.so.4'))
    (tmp_path / 'libcuda.so.1').symlink_to(other)
    assert 'has no function cuInit' in refusal(tmp_path)


BUS = 'bus=0000:9b:00.0+0000:2a:00.0+0000:19:00.0'  # SYS, NODE, PIX from mlx5_0


def test_nearest_gpu(cuda, sysfs):
    outcome = cuda(words('write', 'bw', '-M', 'cuda'), gpus=BUS, sys=sysfs('eight-gpus', {'mlx5_0': 'double0'}))
    used = check(outcome)
    assert used['gpu'] == '2: stand-in GPU C, 0000:19:00.0' and used['gpuDistance'] == 'PIX'
    assert used['gpuChoice'] == 'the nearest by PCIe, the least loaded of these, of 3'
    assert {row['cudaDeviceId'] for row in outcome.connection['resultsPerProcess']} == {2}


@pytest.mark.parametrize('more', [('-M', 'cuda', '-G', '0'), ('--cuda', '0')])
def test_asked_gpu(cuda, sysfs, more):
    outcome = cuda(words('write', 'bw', *more), gpus=BUS, sys=sysfs('eight-gpus', {'mlx5_0': 'double0'}))
    used = check(outcome)
    assert used['gpu'].startswith('0: ') and used['gpuDistance'] == 'SYS'
    assert used['gpuChoice'] == 'as asked for, of 3'
    assert outcome.connection['requestor']['memoryType'] == ('cuda' if more[0] == '-M' else 'cuda_auto_detect')


def test_workers_take_turns(cuda, sysfs):
    """Workers share the nearest GPUs evenly."""
    outcome = cuda([*words('write', 'bw', '-M', 'cuda', '-N', '4')], gpus='bus=0000:43:00.0+0000:40:00.0+0000:44:00.0',
                   sys=sysfs('cascade', {'mlx5_0': 'double0'}))
    assert outcome.rc == 0, outcome
    rows = [row for row in outcome.connection['resultsPerProcess'] if row['side'] == 'requestor']
    assert [row['cudaDeviceId'] for row in rows] == [1, 2, 1, 2]


def test_no_such_gpu(refused):
    refused(options('RC', 'write', 'bw', '-M', 'cuda', '-G', '3'), '--gpu 3', 'CUDA sees 2 GPUs', gpus='gpus=2')


@pytest.mark.parametrize('more, parts', [
    (('-G', '0'), ('-G has no effect', '-M host')),
    (('--cuda', '0', '-M', 'cuda'), ('--cuda and -M exclude each other',)),
    (('--cuda', '0', '-G', '1'), ('--cuda and -G exclude each other',)),
    (('-M', 'cuda', '-m', 'lat', '-v', 'write'), ('-M cuda', '-v write', 'write_imm')),
])
def test_refusals(refused, more, parts):
    refused(['-d', 'double0', '-i', '10', '-w', '0', *more], *parts)


def test_server_only(cuda):
    """The client needs no GPU for a server's."""
    outcome = cuda(words('write', 'bw', '--server_mem_type', 'cuda'))
    check(outcome)
    assert facts(outcome, 'responder')['registration'] == DMABUF and 'registration' not in facts(outcome)
    assert outcome.connection['responder']['memoryType'] == 'cuda'
