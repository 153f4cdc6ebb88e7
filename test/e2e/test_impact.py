"""Congestion impact: victims alone, beside aggressors and alone again, and the factors that follow."""
import json
import re
import shutil
import signal

import pytest

from e2e.result_schema import check

pytestmark = [pytest.mark.plain,
              pytest.mark.skipif(not shutil.which('mpirun'), reason='Open MPI (openmpi-bin) is not installed')]


def part(name, role, pattern, ranks, **more):
    return {'testName': name, 'role': role, 'trafficPattern': pattern, 'testNodes': [{'hostName': ranks}], **more}


RPC = part('rpc', 'victim', 'ALL_TO_ALL', 'localhost%[1-2]', metric='lat', verb='send', msgSize=8)
BULK = part('bulk', 'victim', 'ONE_TO_ONE', 'localhost%[2-3]', nullRate='1G', endMargin=0.1)
LOAD = part('load', 'aggressor', 'incast', 'localhost%[1-3]', nullRate='1G', endMargin=0.1)
BURSTS = part('bursts', 'aggressor', 'ALL_TO_ALL', 'localhost%[1-2]', burstProfile='sync_burst', burstSize=4,
                 endMargin=0.1)
BUSY = 'no message completed|has been silent for'  # so says a run on a machine that is too busy for it


def scenario(*tests, **more):
    return json.dumps({'duration': 0.6, 'warmupTime': 0.1, 'rdmaDriver': 'null', 'tests': tests} | more)


@pytest.fixture
def measure(run, tmp_path):
    """measure(*tests) → the checked document and the page of a run in which every test got its cores in time."""
    def call(*tests, **more):
        path = tmp_path / 'result.json'
        for _ in range(5):
            result = run('-f', scenario(*tests, **more), '-j', path, timeout=120)
            document = check(path.read_text())
            if result.rc == 0:
                return document, result.stdout
            assert re.search(BUSY, result.stderr), result
        raise AssertionError(result)
    return call


def phases_of(document, name):
    """The entries of perTest of a test, by phase."""
    tests = document['aggregatedResults']['perTest']
    return {test['trafficPhaseId']: test for test in tests if test['testName'] == name}


def latency(document, name, phase):
    """Samples of all connections of a test in a phase: their mean, and the range that has a percentile, us."""
    found = [c['results']['latResults'] for c in document['connections']
             if c['testName'] == name and c['testConfig']['generalConfig']['trafficPhaseId'] == phase]
    count = sum(one['samples'] for one in found)
    buckets = sorted(tuple(bucket) for one in found for bucket in one['histogram'])

    def percentile(share):
        seen = 0
        for low, high, samples in buckets:
            seen += samples
            if seen >= share * count:
                return low / 2000, (high + 1) / 2000
    return sum(one['samples'] * one['meanUsec'] for one in found) / count, percentile


def check_figure(figure, unit, inverse):
    """Reference, factors and what the isolated phases say of them follow from the three phases."""
    before, loaded, after = (figure[key + unit] for key in ('isolatedBefore', 'loaded', 'isolatedAfter'))
    assert figure['isolated' + unit] == pytest.approx((before + after) / 2)
    for key, isolated in (('factor', (before + after) / 2), ('factorByBefore', before), ('factorByAfter', after)):
        assert figure[key] == pytest.approx(isolated / loaded if inverse else loaded / isolated)
    apart = 100 * abs(before - after) / min(before, after)
    assert figure['isolatedDifferPercent'] == pytest.approx(apart, abs=1e-6)
    assert figure['uncertain'] == (figure['isolatedDifferPercent'] > 10)


def test_phases_and_factors(measure):
    """Who runs when; every figure is that of its phase, of all samples together; every factor follows from them."""
    document, page = measure(RPC, BULK, LOAD, BURSTS)
    ran = {(c['testName'], c['testConfig']['generalConfig']['trafficPhaseId']) for c in document['connections']}
    assert ran == {(name, phase) for name in ('rpc', 'bulk') for phase in (1, 2, 3)} | {('load', 2), ('bursts', 2)}
    assert len(document['connections']) == 3 * (2 + 1) + 2 + 2
    for name in ('rpc', 'bulk', 'load', 'bursts'):
        for phase, test in phases_of(document, name).items():
            assert test['role'] == ('aggressor' if name in ('load', 'bursts') else 'victim')
            assert (test['figures'] is None) == (test['role'] == 'aggressor' and phase != 2)
    impact = document['congestionImpact']
    assert impact['loadWhole'] is True and impact['differLimitPercent'] == pytest.approx(10)
    rpc, bulk = impact['victims']
    assert (rpc['test'], rpc['testName'], rpc['bandwidth']) == (0, 'rpc', None)
    assert (bulk['test'], bulk['testName'], bulk['latencyMean'], bulk['latencyP99']) == (1, 'bulk', None, None)
    for phase, key in enumerate(('isolatedBefore', 'loaded', 'isolatedAfter'), 1):
        mean, percentile = latency(document, 'rpc', phase)
        assert rpc['latencyMean'][key + 'Usec'] == pytest.approx(mean)
        for name, share in (('latencyP99', 0.99), ('latencyP999', 0.999)):
            low, high = percentile(share)
            assert low <= rpc[name][key + 'Usec'] <= high
        assert bulk['bandwidth'][key + 'GbSec'] == phases_of(document, 'bulk')[phase]['figures']['sumGbSec'] > 0
    for name in ('latencyMean', 'latencyP99', 'latencyP999'):
        check_figure(rpc[name], 'Usec', inverse=False)
    check_figure(bulk['bandwidth'], 'GbSec', inverse=True)
    check_page(page, rpc, bulk)


def check_page(page, rpc, bulk):
    """The page names the phases and the reference, has each figure's factor, and a sentence where it is uncertain."""
    phases = re.findall(r'^Phase (\d) of 3, (\w+):', page, re.M)
    assert phases == [('1', 'isolated'), ('2', 'loaded'), ('3', 'isolated')]
    assert 'isolated is the mean of the isolated phases that have a figure' in page and 'whole load' not in page
    for victim, key, name in ((rpc, 'latencyMean', 'mean'), (rpc, 'latencyP99', '99 %'),
                              (rpc, 'latencyP999', '99.9 %'), (bulk, 'bandwidth', 'bandwidth')):
        row = re.search(rf'^  {victim["testName"]} +{re.escape(name)} .*?(\S+)$', page, re.M)
        assert float(row[1].strip('()')) == pytest.approx(victim[key]['factor'], rel=1e-3), row[0]
        said = f'! {victim["testName"]}, {name}: the isolated phases differ by ' in page
        assert said == (victim[key]['uncertain'] and victim[key]['significant'])


def test_an_open_loop_is_a_victim(measure):
    """Latency at a rate; too few samples for its tail are marked in both."""
    document, page = measure(dict(RPC, trafficPattern='ONE_TO_ONE', rate='200pps'), LOAD)
    victim, = document['congestionImpact']['victims']
    check_figure(victim['latencyMean'], 'Usec', inverse=False)
    assert not victim['latencyP99']['significant'] and not victim['latencyP999']['significant']
    assert re.search(r'^  rpc +99 % .*\(\S+\)$', page, re.M) and 'fewer than ten samples' in page


@pytest.mark.parametrize('phase', (2, 3))
def test_ctrl_c(start, tmp_path, phase):
    """What was measured is told, the factor by the phase before; a phase that ran in part or not is no reference."""
    path = tmp_path / 'result.json'
    for _ in range(5):
        process = start('-f', scenario(BULK, LOAD, duration=3, reportInterval=0.2), '-j', path)
        process.until(r'(\[ +[23]\.\ds\][\s\S]*\[ +[01]\.\ds\][\s\S]*){%d}' % (phase - 1), 'stderr', timeout=60)
        process.send(signal.SIGINT)
        result = process.wait(40)
        document = check(path.read_text())
        impact = document['congestionImpact']
        figure = impact['victims'][0]['bandwidth']
        reached = 2 if 'did not run' in result.stdout else 3
        if result.rc == 130 and reached == phase and figure['isolatedBeforeGbSec'] is not None:
            break  # else the machine was so busy that it came later
    assert (result.rc, document['status'], reached) == (130, 'interrupted', phase), result
    assert figure['isolatedAfterGbSec'] is None
    assert figure['isolatedGbSec'] == figure['isolatedBeforeGbSec'] > 0
    assert all(figure[key] is None for key in ('factorByAfter', 'isolatedDifferPercent', 'uncertain'))
    assert (figure['factor'] is None) == (figure['loadedGbSec'] is None)
    loads = phases_of(document, 'load')[2]['failedConnections'] == 0
    assert impact['loadWhole'] == (phase == 3 and loads)
    assert ('! the factors are not of the whole load' in result.stdout) == (not impact['loadWhole'])
    assert 'isolated is the mean of the isolated phases that have a figure' in result.stdout
    if phase == 2:
        assert {c['status'] for c in document['connections']
                if c['testConfig']['generalConfig']['trafficPhaseId'] == 3} == {'interrupted'}


def test_a_threshold_counts_in_every_phase(run):
    """A victim that misses it in any phase ends the run with 2."""
    for _ in range(5):
        result = run('-f', scenario(dict(BULK, bwThreshold=5), LOAD), '--print_json_results', timeout=90)
        document = check(result.stdout)
        if result.rc == 2:
            break
        assert re.search(BUSY, result.stderr), result
    assert result.rc == 2, result
    assert [test['thresholdMissed'] for test in phases_of(document, 'bulk').values()] == [1, 1, 1]
