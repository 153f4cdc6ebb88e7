"""Queue pairs connected by rdma_cm: they carry the same traffic, each refusal is named."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from double.runs import check_bandwidth, options

CM = ('--rdma_cm', 'on')
WRITE = options('RC', 'write', 'bw', *CM)


@pytest.mark.parametrize('connection, verb', [('RC', 'write'), ('RC', 'send'), ('RC', 'read'), ('RC', 'atomic_fa'),
                                              ('UD', 'send')])
def test_bandwidth(double, connection, verb):
    outcome = double(options(connection, verb, 'bw', '-q', '5', *CM, '--print_json_results'))
    check_bandwidth(outcome, verb)
    assert outcome.connection['requestor']['facts']['connection'] == 'rdma_cm'


@pytest.mark.parametrize('connection', ['RC', 'UD'])
def test_latency(double, connection):
    outcome = double(options(connection, 'send', 'lat', *CM, '--print_json_results'))
    assert outcome.rc == 0 and not outcome.alive(), outcome
    assert outcome.connection['results']['latResults']['samples'] == 200


def test_two_workers(double):
    check_bandwidth(double(options('RC', 'send', 'bw', '-N', '2', '-q', '3', *CM, '--print_json_results')), 'send')


def test_infiniband(double):
    check_bandwidth(double([*WRITE, '--print_json_results'], both='link=ib'), 'write')


def test_knobs_are_read_back(double):
    knobs = {'--qp_timeout': 11, '--retry_count': 3, '--rnr_retry': 2, '--min_rnr_timer': 5, '--mtu': 1024}
    words = [str(word) for pair in knobs.items() for word in pair]
    facts = double([*WRITE, *words, '--print_json_results']).connection['requestor']['facts']
    assert [facts[key] for key in ('qpTimeout', 'retryCount', 'rnrRetry', 'minRnrTimer', 'mtu')] == list(knobs.values())


def test_unreliable_connection(refused):
    refused(options('UC', 'write', 'bw', *CM), 'rdma_cm', 'UC', 'RC')


def test_refusals(refused, double):
    """Each is named; when the second of three queue pairs fails everything is given back. The other side waits for five
    seconds, hence all at once."""
    events = {'addr_error': 'RDMA_CM_EVENT_ADDR_ERROR', 'route_error': 'RDMA_CM_EVENT_ROUTE_ERROR',
              'rejected': 'RDMA_CM_EVENT_REJECTED', 'unreachable': 'RDMA_CM_EVENT_UNREACHABLE',
              'silent': 'did not answer'}
    with ThreadPoolExecutor(len(events) + 1) as pool:
        later = pool.submit(double, options('RC', 'write', 'bw', '-q', '3', *CM),
                            client='fail=rdma_connect:ENOBUFS:2')
        runs = [pool.submit(refused, WRITE, 'rdma_cm', 'double0', event, client=f'cm={fault}')
                for fault, event in events.items()]
        for run in runs:
            run.result()
    assert later.result().rc == 1 and not later.result().alive(), later.result()
