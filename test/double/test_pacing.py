"""Packet pacing: what the device can, whether it is asked to, and whether it does it, by what came of it."""
import json
import os
import signal
import subprocess

import pytest

from double.runs import options

WORDS = options('UC', 'write', 'bw', '--print_json_results')


def rates(environment, library, fabric, faults, *asked):
    """The answers to these rates, and the rate that the device has in the end."""
    run = subprocess.run([library.parent / 'double' / 'pace' / 'pace', *asked], stdout=subprocess.PIPE, text=True,
                         check=True, env=dict(os.environ, **environment(faults)))
    counts = [json.loads(file.read_text()) for file in fabric.glob('count-*.json')]
    return run.stdout.splitlines(), counts[0]['paced']


def test_rates_within_the_limits_are_taken(environment, library, fabric):
    answers, kept = rates(environment, library, fabric, 'pacing=100:40000', '100', '40000', '99', '40001', '5000')
    good, bad = 'Success', 'Invalid argument'
    assert answers == ['100-40000', f'100: {good}', f'40000: {good}', f'99: {bad}', f'40001: {bad}', f'5000: {good}']
    assert kept == 5000


def test_without_pacing_no_rate_is_taken(environment, library, fabric):
    assert rates(environment, library, fabric, '', '100') == (['0-0', '100: Operation not supported'], 0)


@pytest.mark.parametrize('faults, expected', [
    ({'client': 'pacing=1:100000000'}, ('1 to 100000000', None)), ({'both': 'pacing=7:8'}, ('7 to 8', '7 to 8')),
    ({'both': 'pacing=7:8', 'client': 'fail=ibv_query_device_ex:EIO:0'}, (None, '7 to 8')),
])
def test_the_report_says_what_the_device_can(double, faults, expected):
    outcome = double(WORDS, **faults)
    assert outcome.rc == 0 and not outcome.alive(), outcome
    assert tuple(outcome.connection[side]['facts'].get('packetPacingKbitSec') for side in ('requestor', 'responder')) \
        == expected


def words_of(*more, connection='UC', size=10, rate='8M', verb='write', sizes='1000'):
    """Forty bursts of each queue pair, 10 ms apart."""
    return ['-d', 'double0', '-c', connection, '-v', verb, '-s', sizes, '-q', '2', '-w', '0', '--burst_profile',
            'storage', '--burst_size', str(size), '--burst_count', '40', '--rate_limit', rate, *more]


HEADERS = 1000 / (1000 + 118)


def verdicts(bursts, connection):
    """Whether a queue pair's rate is explained by headers, a hundredth and what a poll may be late, with and without
    some more; and what the report says."""
    slowest, fastest = bursts['slowestFlowGbSec'] / 0.008, bursts['fastestFlowGbSec'] / 0.008
    assert slowest <= bursts['achievedFlowGbSec'] / 0.008 <= fastest
    said = [remark['serious'] for remark in connection['remarks'] if remark['id'] == 'pacingOff']
    return [HEADERS * (1 - part) <= slowest and fastest <= 1 + part for part in (0.01, 0.02)], said == [True]


def paced(double, faults, *words, **shape):
    """The bursts of a run on such a device, its connection, and what the device counted."""
    outcome = double(words_of('--print_json_results', *words, **shape), both=faults)
    bursts = outcome.connection['bursts']
    away = bursts['pacedBy'] == 'program' and not bursts['bursts']  # the machine, all the time: a failure
    assert outcome.rc == (1 if away else 0) and not outcome.alive(), outcome
    return bursts, outcome.connection, outcome.client


@pytest.mark.parametrize('kind', ['hw', 'auto'])
@pytest.mark.parametrize('percent, seconds', [(100, 0.39), (50, 0.78), (0, 0)])
def test_the_device_paces(double, percent, seconds, kind):
    """Bursts are exact, no quicker than the device lets them go, and a rate that is not kept is told."""
    bursts, connection, counts = paced(double, f'pacing=1:1000000,pacing_percent={percent}', '--rate_limit_type', kind)
    assert (bursts['pacedBy'], bursts['askedFlowGbSec'], counts['paced']) == ('device', 0.008, 8000)
    assert connection['requestor']['facts']['rateLimitKbitSec'] == 8000
    assert 'rateLimitKbitSec' not in connection['responder']['facts']
    assert bursts['slots'] == bursts['bursts'] == 80 and bursts['messages'] == 800 == counts['sent']
    assert bursts['lateBursts'] == bursts['skippedSlots'] == bursts['fullSlots'] == 0
    assert bursts['lateness'] is bursts['length'] is bursts['burstGbSec'] is None
    assert bursts['gap']['samples'] == 78 and bursts['gap']['p1Usec'] <= bursts['gap']['p50Usec']
    assert connection['results']['bwResults']['durationSec'] >= seconds
    (good, fair), off = verdicts(bursts, connection)
    assert not (off and good) and (off or fair)
    assert off or percent  # a device that does not pace at all is far from it


def test_one_queue_pair_of_two_is_slow(double):
    """Also where the mean of both would do."""
    faults = 'pacing=1:1000000,pacing_uneven,pacing_percent=130'
    bursts, connection, _ = paced(double, faults, '--rate_limit_type', 'hw')
    assert bursts['slowestFlowGbSec'] < 0.8 * bursts['fastestFlowGbSec'] and verdicts(bursts, connection)[1]


def test_whole_kilobits_are_asked_of_the_device(double):
    assert paced(double, 'pacing=8000:8000', '--rate_limit_type', 'hw', rate='8000.999k')[2]['paced'] == 8000


FETCHES = 'it paces requests, and of a verb that fetches these are not what takes long'
EXCLUDED = [('', {}, (), 'it has no packet pacing'),
            ('pacing=1:7999', {}, (), 'it paces from 1 to 7999 kbit/sec, not 8000'),
            ('pacing=8001:9000', {}, (), 'it paces from 8001 to 9000 kbit/sec, not 8000'),
            ('pacing=1:9000,no_rc_pacing', {'connection': 'RC'}, (), 'its packet pacing does not know RC queue pairs'),
            ('pacing=1:9000', {'connection': 'RC', 'verb': 'read'}, (), FETCHES),
            ('pacing=1:9000', {}, ('--tx_depth', '19'),
             '--tx_depth 19 has no room for two bursts, and the queue would run dry')]


@pytest.mark.parametrize('faults, shape, words, why', EXCLUDED)
def test_what_the_device_cannot(double, refused, faults, shape, words, why):
    """Asked for it is one sentence; else the program paces, and the report says why."""
    refused(words_of('--rate_limit_type', 'hw', *words, **shape), why, 'sw paces by the program', both=faults)
    bursts, result, counts = paced(double, faults, '--rate_limit_type', 'auto', *words, **shape)
    assert (bursts['pacedBy'], counts['paced']) == ('program', 0)
    assert result['requestor']['facts']['notPacedByDevice'] == why


def test_each_size_is_judged(refused):
    refused(words_of('--rate_limit_type', 'hw', sizes='1000,1M'), 'two bursts in its queue would take more than 20 s',
            both='pacing=1:9000')


def test_a_stop_does_not_wait_for_the_device(start, free_port, environment, fabric):
    """The second burst is due 6 s after the first one, and goes with its queue pair."""
    words = ['-d', 'double0', '-c', 'UC', '-v', 'write_imm', '-s', '1000', '-w', '0', '--burst_profile', 'storage',
             '--burst_size', '10', '--burst_count', '2', '--rate_limit', '13k', '--rate_limit_type', 'hw', '-R', '0.1',
             '--seed', '5']  # a phase of 2 s
    process = start(*words, '-n', 'localhost', '--port', free_port(), env=environment('pacing=1:9000'))
    process.until(r'\] +0\.\d*[1-9]', 'stderr', timeout=20)
    assert process.stop(signal.SIGINT).rc == 130
    counts = [json.loads(file.read_text()) for file in fabric.glob('count-*.json')]
    assert [sum(side[key] for side in counts) for key in ('sent', 'qp', 'mr')] == [10, 0, 0]


def test_a_device_that_does_not_tell(double):
    result = paced(double, 'pacing=1:9000,fail=ibv_query_device_ex:EIO:0', '--rate_limit_type', 'auto')[1]
    assert 'ibv_query_device_ex: Input/output error' in result['requestor']['facts']['notPacedByDevice']


def test_a_device_that_takes_no_bursts(double, refused):
    faults = 'pacing=1:9000,no_paced_bursts'
    refused(words_of('--rate_limit_type', 'hw'), 'ibv_modify_qp_rate_limit', 'Invalid argument',
            '--burst_size 1', both=faults)
    bursts = paced(double, faults, '--rate_limit_type', 'hw', size=1)[0]
    assert bursts['pacedBy'] == 'device' and bursts['messages'] == 80


def test_without_a_word_the_program_paces(double):
    bursts, connection, counts = paced(double, 'pacing=1:9000')
    assert (bursts['pacedBy'], counts['paced']) == ('program', 0)
    assert 'notPacedByDevice' not in connection['requestor']['facts']
