"""-r dv, --cc_group_hints and --engine: what they need is checked first, and what is missing is named."""
import subprocess

import pytest

from double.runs import options

DV = ('-r', 'dv')
WRITE = options('RC', 'write', 'bw', *DV)
GPU = ('--engine', 'gpunetio')


@pytest.fixture
def doca(monkeypatch, tmp_path):
    """doca('common', 'verbs', symbols='…') → a folder, in DOCA_SDK_LIB_PATH, with libraries of these names."""
    folder = tmp_path / 'doca'
    folder.mkdir()
    monkeypatch.setenv('DOCA_SDK_LIB_PATH', str(folder))

    def call(*names, symbols=''):
        for name in names:
            source = ''.join(f'void {symbol}(void) {{}}\n' for symbol in symbols.split()) or 'int nothing;\n'
            subprocess.run(['cc', '-shared', '-fPIC', '-xc', '-', '-o', folder / f'libdoca_{name}.so'], input=source,
                           text=True, check=True)
        return folder
    return call


@pytest.mark.parametrize('there, missing', [((), 'common'), (('common',), 'verbs')])
def test_library_missing(refused, doca, there, missing):
    folder = doca(*there)
    refused(WRITE, f'libdoca_{missing}.so', str(folder), 'DOCA_SDK_LIB_PATH', f'doca-sdk-{missing}')


def test_library_missing_from_loader_path(refused, monkeypatch):
    monkeypatch.delenv('DOCA_SDK_LIB_PATH', raising=False)
    refused(WRITE, 'libdoca_common.so', "loader's path", 'doca-sdk-common', 'DOCA_SDK_LIB_PATH')


def test_library_broken(refused, doca):
    file = doca() / 'libdoca_common.so'
    file.write_text('no library')
    refused(WRITE, str(file), 'cannot open')


def test_library_old(refused, doca):
    doca('common', 'verbs', symbols='doca_verbs_bridge_verbs_context_create')
    refused(WRITE, 'doca_verbs_bridge_get_ibv_ctx', 'newer doca-sdk-verbs')


@pytest.mark.parametrize('words, parts', [
    (options('UD', 'send', 'bw', *DV), ('UD', 'dv', 'RC or UC')),
    (options('RC', 'atomic_fa', 'bw', *DV), ('atomic_fa', 'dv', 'write, write_imm, read or send')),
    ([*WRITE, '--rdma_cm', 'on'], ('--rdma_cm', 'dv')),
    ([*WRITE, '--use_ece'], ('--use_ece', 'dv')),
])
def test_not_with_dv(refused, words, parts):
    refused(words, *parts)


@pytest.mark.parametrize('hints, parts', [
    ('file', ('four fields', 'formatId')), ('file,8,1', ('four fields', 'size')),
    ('file,8,x,1', ('vendorId', "'x'")), ('file,8,1,4294967296', ('formatId', '4294967295')),
    ('file,0,1,1', ('size is 0',)), ('file,65537,1,1', ('size 65537', '65536')), (',8,1,1', ('path is empty',)),
    ('/nonexistent,8,1,1', ('/nonexistent', 'No such file')),
])
def test_hints(refused, hints, parts):
    refused([*WRITE, '--cc_group_hints', hints], '--cc_group_hints', *parts)


def test_hints_of_another_size(refused, tmp_path):
    file = tmp_path / 'hints,1'  # a comma in the path is no separator
    file.write_bytes(bytes(16))
    refused([*WRITE, '--cc_group_hints', f'{file},12,1,1'], str(file), '16 bytes, not 12')
    refused([*WRITE, '--cc_group_hints', f'{file},16,1,1'], 'libdoca_common.so')


@pytest.mark.parametrize('driver', ['ibv', 'ofi', 'null'])
def test_hints_with_another_driver(refused, driver):
    words = ['-d', 'double0'] if driver == 'ibv' else []
    refused(['-r', driver, *words, '--cc_group_hints', 'file,8,1,1'], '--cc_group_hints', driver, 'dv')


@pytest.mark.parametrize('words, parts', [
    (options('RC', 'write', 'bw'), ('-r ibv', 'needs -r dv')),
    (options('RC', 'send', 'lat', *DV), ('-v send', '-v write')),
    (options('RC', 'write', 'lat', *DV, '--lat_mode', 'one_way'), ('--lat_mode one_way', 'needs a round trip')),
    (options('RC', 'write', 'lat', *DV), ('CUDA memory',)),
    (options('UC', 'write', 'bw', *DV), ('-c UC', 'needs -c RC')),
    (['-d', 'double0', *DV, '--operations', 'write:64,write:4K'], ('--operations', 'messages of one kind')),
    ([*WRITE, '--cc_group_hints', 'file,8,1,1'], ('--cc_group_hints', 'no such group')),
    ([*WRITE, '--bidirectional'], ('--bidirectional', 'one direction')),
    (['-d', 'double0', *DV, '--end_margin', '1'], ('--end_margin', 'after the window')),
    ([*WRITE, '-M', 'host'], ('-M host', 'CUDA memory')),
    ([*WRITE, '--server_mem_type', 'host'], ('CUDA memory',)),
])
def test_engine(refused, words, parts):
    refused([*words, *GPU], '--engine gpunetio', *parts)
