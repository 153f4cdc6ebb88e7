"""What becomes of a run in which a call of libibverbs failed: nothing is left, its document is complete."""
import pytest

from double.runs import options


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
