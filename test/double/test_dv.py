"""-r dv on stand-ins for DOCA's libraries, which use the stand-in device: traffic, groups, calls that fail."""
import re

import pytest

from double.runs import check_bandwidth, options

DV = ('-r', 'dv')
JSON = '--print_json_results'
WRITE = options('RC', 'write', 'bw', *DV)
UC = options('UC', 'send', 'lat', *DV, iterations=50)


@pytest.fixture
def dv(double, library, monkeypatch):
    """dv(words, doca='', …) → Outcome of a run with the stand-ins, whose words are `doca`."""
    folder = library.parent / 'double' / 'doca'
    assert (folder / 'libdoca_verbs.so').exists(), 'run "make" first'
    monkeypatch.setenv('DOCA_SDK_LIB_PATH', str(folder))

    def call(words, doca='', **faults):
        monkeypatch.setenv('FABPERF_DOCA', doca)
        return double(words, **faults)
    return call


@pytest.fixture
def refused(dv):
    """refused(words, *parts, doca='') → the only line on stderr, with these parts; the run leaves nothing."""
    def call(words, *parts, doca=''):
        outcome = dv(words, doca)
        lines = outcome.stderr.splitlines()
        assert outcome.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), outcome
        assert not outcome.alive()
        for part in parts:
            assert part in lines[0], f'"{part}" is not in: {lines[0]}'
        return lines[0]
    return call


def facts(outcome, side='requestor'):
    return outcome.connection[side]['facts']


@pytest.mark.parametrize('connection, verb, metric, more', [
    ('RC', 'write', 'bw', ()), ('RC', 'send', 'bw', ('-q', '3', '-N', '2', '--validate')), ('RC', 'write', 'lat', ()),
    ('RC', 'read', 'lat', ()), ('UC', 'send', 'lat', ()), ('RC', 'send', 'bw', ('-b',)),
    ('RC', 'write_imm', 'bw', ('-M', 'device'))])
def test_traffic(dv, connection, verb, metric, more):
    outcome = dv([*options(connection, verb, metric, *DV, *more), JSON])
    if metric == 'bw':
        check_bandwidth(outcome, verb)
    assert outcome.rc == 0 and outcome.stderr == '' and not outcome.alive(), outcome
    used = facts(outcome)
    assert used['postApi'] == 'doca_verbs_bridge_post_send' and used['docaVersion'] == '0.0.1-stand-in'
    assert used['psn'] == facts(outcome, 'responder')['psn'] and used['mtu'] == 4096 and used['hopLimit'] == 64
    assert 'flowLabel' not in used and 'ccGroup' not in used


def test_every_message_goes_through_the_library(dv):
    outcome = dv([*WRITE, '--cq_mod', '1'], 'tell')
    told = re.findall(r'libdoca: (\d+) sends, (\d+) receives, (\d+) completions', outcome.stderr)
    assert outcome.rc == 0 and ('200', '0', '200') in told and outcome.client['sent'] == 200


def test_sizes_on_the_same_queue_pairs(dv):
    outcome = dv(['-d', 'double0', *DV, '-v', 'send', '-s', '64,4K', '-i', '100', '-w', '0', JSON])
    assert outcome.rc == 0 and [row['status'] for row in outcome.json['connections']] == ['ok', 'ok'], outcome


@pytest.mark.parametrize('device, more, gid', [
    ('gids=v2/fe80::5', (), 'fe80::5'), ('gids=v2/10.0.0.1', (), '10.0.0.1'), ('link=ib', (), None),
    ('link=ib', ('--gid_index', '0', '--service_level', '3'), None)])
def test_kind_of_address(dv, device, more, gid):
    """The stand-in takes only the kind that the peer's GID and the link layer have."""
    outcome = dv([*UC, *more, JSON], both=device)
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    used = facts(outcome)
    assert used['gid'] == (gid or used['gid']) and used['serviceLevel'] == (3 if '--service_level' in more else 0)


def test_less_inline(dv):
    assert facts(dv([*WRITE, JSON], both='inline=32'))['inlineSize'] == 0
    assert facts(dv([*WRITE, JSON], both='inline=64'))['inlineSize'] == 64


@pytest.mark.parametrize('option', [('--events', 'on'), ('--flow_label', '5'), ('--wr_api', 'on')])
def test_not_with_dv(refused, option):
    refused([*WRITE, *option], option[0], 'dv')


# --- congestion control groups ---

@pytest.fixture
def hints(tmp_path):
    file = tmp_path / 'hints'
    file.write_bytes(bytes(16))
    return lambda size=16, vendor=1, form=1: [*WRITE, '--cc_group_hints', f'{file},{size},{vendor},{form}']


def test_group(dv, hints):
    outcome = dv([*hints(), JSON], 'tell')
    assert outcome.rc == 0 and 'hints of 16 bytes for 1 queue pair' in outcome.stderr, outcome
    assert 'alive' not in outcome.stderr
    assert facts(outcome)['ccGroup'] == facts(outcome, 'responder')['ccGroup'] == '16 bytes of vendor 1 in format 1'


@pytest.mark.parametrize('doca, parts', [
    ('vendor=2', ('takes hints of vendor 2 in format 1', 'not of vendor 1')), ('format=7', ('format 7', 'format 1')),
    ('no_cc', ('no congestion control groups', 'doca_verbs_query_cc_group_caps: DOCA_ERROR_NOT_SUPPORTED')),
    ('hint_most=8', ('doca_verbs_cc_group_attr_set_hint: DOCA_ERROR_INVALID_VALUE', 'longer than it takes')),
    ('fail=doca_verbs_cc_group_create:7', ('doca_verbs_cc_group_create: DOCA_ERROR_NO_MEMORY',)),
    ('fail=doca_verbs_qp_attr_set_cc_group:6', ('RTR', 'doca_verbs_qp_attr_set_cc_group: DOCA_ERROR_INVALID_VALUE'))])
def test_no_group(refused, hints, doca, parts):
    refused(hints(), *parts, 'double0', doca=doca)


# --- each call fails ---

CALLS = {'verbs_bridge_verbs_context_create': 'a context', 'verbs_pd_create': 'a protection domain',
         'verbs_cq_attr_set_cq_size': 'a completion queue', 'verbs_cq_create': 'lower --tx_depth',
         'verbs_qp_init_attr_set_rq_wr': 'queue pair', 'verbs_qp_create': 'lower --tx_depth',
         'verbs_qp_modify': 'INIT', 'verbs_ah_attr_set_traffic_class': 'RTR', 'verbs_qp_attr_set_sq_psn': 'RTS'}


@pytest.mark.parametrize('call, part', CALLS.items())
def test_call_fails(refused, call, part):
    refused(WRITE, f'(doca_{call}: DOCA_ERROR_INVALID_VALUE): Invalid argument', part, 'double0',
            doca=f'fail=doca_{call}:6:0')


@pytest.mark.parametrize('call, code, parts', [
    ('bridge_get_ibv_ctx', 1, ()), ('bridge_verbs_pd_get_ibv_pd', 1, ()),
    ('bridge_post_send', 22, ('takes no message',)),
    ('bridge_poll_cq', -5, ('completion queue',)), ('qp_modify', 21, ('DOCA_ERROR_DRIVER', 'Input/output error'))])
def test_other_answers(refused, call, code, parts):
    refused(WRITE, f'doca_verbs_{call}', *parts, doca=f'fail=doca_verbs_{call}:{code}')


@pytest.mark.parametrize('call', ['qp_destroy', 'cq_destroy', 'pd_destroy', 'context_destroy'])
def test_not_taken_back(dv, call):
    """The figures stand, and the run has failed."""
    outcome = dv([*WRITE, JSON], f'fail=doca_verbs_{call}:3:0')
    assert outcome.rc == 1 and f'doca_verbs_{call}: DOCA_ERROR_IN_USE' in outcome.stderr, outcome
    assert outcome.connection['results']['bwResults']['bwGbSec'] > 0 and not outcome.alive()
