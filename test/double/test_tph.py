"""Processing hints reach the device with the memory of both sides, or one sentence says why they cannot."""
import pytest

from double.runs import check_bandwidth, options

WRITE = options('RC', 'write', 'bw')
JSON = ('--print_json_results',)


@pytest.mark.parametrize('words, hint, told', [
    (('--ph', '0'), (0, 0, 0), {'ph': 0}),
    (('--ph', '3'), (0, 0, 3), {'ph': 3}),
    (('--ph', '2', '--tph_core_id', '5', '--tph_mem', 'pm'), (5, 1, 2),
     {'ph': 2, 'tphCoreId': 5, 'tphMem': 'persistent'}),
    (('--ph', '1', '--tph_core_id', '0', '--tph_mem', 'vm'), (0, 0, 1),
     {'ph': 1, 'tphCoreId': 0, 'tphMem': 'volatile'}),
])
def test_hint(double, words, hint, told):
    outcome = double([*WRITE, *words, *JSON], both='tph')
    check_bandwidth(outcome, 'write')
    core, mem, number = hint
    assert outcome.client['hint'] == outcome.server['hint'] == (core << 16 | mem << 8 | number) + 1
    for side in ('requestor', 'responder'):
        facts = outcome.connection[side]['facts']
        assert {key: facts[key] for key in ('ph', 'tphCoreId', 'tphMem') if key in facts} == told


def test_without_a_hint(double):
    outcome = double([*WRITE, *JSON], both='tph')
    assert outcome.rc == 0 and outcome.client['hint'] == 0 and 'ph' not in outcome.connection['requestor']['facts']


@pytest.mark.parametrize('words, faults, parts', [
    (('--ph', '1'), {'client': 'tph'}, ('localhost', 'double0', 'ibv_alloc_dmah', 'not supported', 'leave out --ph')),
    (('--ph', '1'), {'server': 'tph'}, ('double0', 'ibv_alloc_dmah', 'not supported', 'leave out --ph')),
    (('--ph', '1', '-M', 'nullmr'), {'both': 'tph'}, ('--ph has no effect on a null memory region',)),
    (('--ph', '1'), {'both': 'tph', 'client': 'fail=ibv_reg_mr_ex:EIO'}, ('ibv_reg_mr_ex', 'Input/output error')),
    (('--ph', '1'), {'both': 'tph', 'server': 'fail=ibv_alloc_dmah:EINVAL'}, ('ibv_alloc_dmah', 'Invalid argument')),
    (('--ph', '1'), {'both': 'tph', 'client': 'fail=ibv_dealloc_dmah:EBUSY'}, ('ibv_dealloc_dmah', 'busy')),
])
def test_refused(refused, words, faults, parts):
    refused([*WRITE, *words], *parts, **faults)
