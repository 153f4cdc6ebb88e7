"""Each call of libibverbs fails in turn, at the client and at the server: one sentence, exit 1, nothing left."""
import os

import pytest

from double.runs import calls, options

RUNS = {
    'setup': ('RC', 'write', 'bw', '--wr_api', 'off'),
    'post': ('RC', 'write', 'bw', '--wr_api', 'off'),
    'run': ('RC', 'write', 'bw'),
    'receive': ('RC', 'send', 'lat'),
    'wr': ('RC', 'write', 'bw', '--wr_api', 'on'),
    'ud': ('UD', 'send', 'bw'),
    'events': ('RC', 'send', 'lat', '--events', 'on'),
    'nullmr': ('RC', 'send', 'bw', '-M', 'nullmr'),
    'device': ('RC', 'write', 'bw', '-M', 'device'),
    'end': ('RC', 'write', 'bw'),
    'end_device': ('RC', 'write', 'bw', '-M', 'device'),
    'end_ud': ('UD', 'send', 'bw'),
    'end_events': ('RC', 'send', 'bw', '--events', 'on'),
}
CODES = {'EIO': 5, 'ENOMEM': 12, 'EPERM': 1}
BEGINNING = [(name, kind) for kind in ('setup', 'post', 'run', 'receive', 'wr', 'ud', 'events', 'nullmr', 'device')
             for name in calls(kind)]
ENDING = [(name, kind) for kind in ('end', 'end_ud', 'end_events', 'end_device') for name in calls(kind)]


def fault_of(name):
    """The fault and its text. ENOMEM from a post means that the queue is full, and registration has a hint for it."""
    code = 'EIO' if name in ('ibv_post_send', 'ibv_post_recv', 'ibv_wr_complete', 'ibv_reg_mr') else 'ENOMEM'
    # The list is read and a queue pair asked for more than once, and one success is enough: they must fail each time.
    always = name == 'ibv_get_device_list' or 'create_qp' in name
    return f'fail={name}:{code}:{0 if always else 1}', os.strerror(CODES[code])


@pytest.mark.parametrize('name, kind', BEGINNING)
def test_client(refused, name, kind):
    fault, text = fault_of(name)
    refused(options(*RUNS[kind]), name, text, client=fault)


@pytest.mark.parametrize('name, kind', [row for row in BEGINNING if row[0] not in ('ibv_post_send', 'ibv_wr_complete')])
def test_server(refused, name, kind):
    if kind == 'run':
        kind = 'receive'  # the other side of a write polls nothing
    fault, text = fault_of(name)
    refused(options(*RUNS[kind]), name, text, server=fault)


@pytest.mark.parametrize('nth', [2, 3, 4, 5, 6])
def test_later_transitions(refused, nth):
    """Of several queue pairs and states, a later one fails: what exists is given back."""
    refused(options('RC', 'write', 'bw', '-q', '2'), 'ibv_modify_qp', os.strerror(CODES['EPERM']),
            client=f'fail=ibv_modify_qp:EPERM:{nth}')


@pytest.mark.parametrize('nth', [2, 5, 20])
@pytest.mark.parametrize('name, kind', [('ibv_post_send', 'post'), ('ibv_poll_cq', 'run'), ('ibv_wr_complete', 'wr')])
def test_amid_traffic(refused, name, kind, nth):
    words = options(*RUNS[kind], '--post_batch', '1', '--cq_mod', '1', iterations=5000)
    refused(words, name, os.strerror(CODES['EIO']), client=f'fail={name}:EIO:{nth}')


@pytest.mark.parametrize('name, kind', ENDING)
def test_ending(double, name, kind):
    """What was measured stands, but whoever is refused at the end hears of it."""
    outcome = double(options(*RUNS[kind], '--print_json_results'), client=f'fail={name}:EBUSY')
    assert outcome.rc in (0, 1), outcome
    assert outcome.json['connections'][0]['results']['bwResults']['messages'] > 0
    assert len(outcome.stderr.splitlines()) <= 1


def test_everything_given_back(double):
    """After a failure in the middle, no object of the device is left."""
    for fault in ('ibv_create_cq:ENOMEM', 'ibv_reg_mr:ENOMEM', 'ibv_modify_qp:EIO:3', 'ibv_post_send:EIO:3'):
        outcome = double(options('RC', 'write', 'bw', '-q', '2', '--wr_api', 'off'), client=f'fail={fault}')
        assert outcome.rc == 1 and outcome.client and not outcome.alive(), (fault, outcome)


@pytest.mark.parametrize('api, name', [('off', 'ibv_post_send'), ('on', 'ibv_wr_complete')])
def test_full_queue(double, api, name):
    """A queue that is full for a moment is no failure: the messages are posted later."""
    words = options('RC', 'send', 'bw', '--wr_api', api, '--print_json_results')
    outcome = double(words, client=f'fail={name}:ENOMEM:3,fail={name}:ENOMEM:4')
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    assert outcome.connection['loss']['lost'] == 0


@pytest.mark.parametrize('fault', ['fail=ibv_open_device:EACCES', 'fail=ibv_reg_mr:EPERM', 'fail=ibv_post_send:EIO:4',
                                   'status=100:REM_ACCESS_ERR', 'gone=150', 'port=down'])
@pytest.mark.parametrize('side', ['client', 'server'])
def test_document(double, side, fault):
    """The document is complete also when the run failed, and gives the reason that stderr gives."""
    words = options('RC', 'send', 'lat', '--wr_api', 'off', '--print_json_results')
    outcome = double(words, **{side: fault})
    assert outcome.rc == 1 and outcome.json['status'] == 'failed', outcome
    assert outcome.json['error'] and outcome.json['error'] in outcome.stderr


def test_read_back(double):
    """What the device does not tell is absent from the report, not invented."""
    outcome = double(options('RC', 'write', 'bw', '--print_json_results'), client='fail=ibv_query_qp:EIO:0')
    facts = outcome.connection['requestor']['facts']
    assert outcome.rc == 0 and facts['qpNumber'] and 'qpTimeout' not in facts and 'mtu' not in facts
