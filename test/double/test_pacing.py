"""Packet pacing: the report says what the device can do; the stand-in device takes rates within its limits."""
import json
import os
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
