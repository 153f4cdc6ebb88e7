"""XRC: each endpoint sends by one queue pair and receives by another with a receive queue of its own."""
import pytest

from double.runs import check_bandwidth, options


def test_numbers_are_told(double):
    outcome = double(options('XRC', 'send', 'bw', '-q', '3', '-N', '2', '--print_json_results'))
    check_bandwidth(outcome, 'send')
    for side in ('requestor', 'responder'):
        facts = outcome.connection[side]['facts']
        assert facts['transport'] == 'XRC' and facts['qpTimeout'] == 14
        assert len({facts['qpNumber'], facts['xrcTargetQpNumber'], facts['xrcSrqNumber']}) == 3


@pytest.mark.parametrize('side', ['client', 'server'])
def test_no_xrc(refused, side):
    refused(options('XRC', 'write', 'bw'), 'RDMA device double0 has no XRC (device_cap_flags): use -c RC',
            **{side: 'no_xrc'})


def test_slow_receiver(double):
    """One receive at a time: the sender waits and nothing is lost."""
    outcome = double(options('XRC', 'send', 'bw', '--rx_depth', '1', '--post_batch', '1', '--print_json_results'))
    check_bandwidth(outcome, 'send')
    assert outcome.connection['loss']['lost'] == 0
