"""Plans of the example scenarios and of command lines, and the sentences that malformed scenarios get."""
import json
import re
from pathlib import Path

import pytest

from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parent.parent.parent
SCENARIOS = sorted(str(path.relative_to(ROOT / 'scenarios')) for path in (ROOT / 'scenarios').rglob('*.json'))
PLACED = re.compile(r'fabperf: \S+:\d+:\d+: \$.*?: .+')


def test_there_are_examples():
    assert len(SCENARIOS) >= 12


@pytest.mark.parametrize('name', SCENARIOS)
def test_scenario(run, golden, name):
    result = run('plan', '-f', f'scenarios/{name}', cwd=ROOT)
    assert (result.rc, result.stderr) == (0, '')
    golden(f'plan/{name.removesuffix(".json")}.txt', result.stdout)


@pytest.mark.plain
def test_documents(run):
    """Every scenario's document keeps the schema, and its numbers agree with its list."""
    schema = Draft202012Validator(json.loads((ROOT / 'docs/plan.schema.json').read_text()))
    for name in SCENARIOS:
        document = json.loads(run('plan', '-f', f'scenarios/{name}', '--json', cwd=ROOT).stdout)
        schema.validate(document)
        pairs = [(one['test'], str(one['requestor']), str(one['responder'])) for one in document['connections']]
        assert len(set(pairs)) == len(pairs) == document['totals']['connections']
        assert sum(test['connections'] for test in document['tests']) == len(pairs)
        assert sum(host['qps'] for host in document['hosts']) == document['totals']['qps']
        short = json.loads(run('plan', '-f', f'scenarios/{name}', '--json', '--summary', cwd=ROOT).stdout)
        schema.validate(short)
        assert short == dict(document, connections=len(pairs))


@pytest.mark.plain
def test_small_numbers_come_back(run):
    """JSON writes a rate of 50 kbit/s, in Gbit/s, with an exponent."""
    scenario = {'testNodes': [{'hostName': 'a[1-2]'}], 'trafficPattern': 'RING', 'burstProfile': 'SYNC_BURST',
                'burstSize': 4, 'linkRate': 5e-05}
    result = run('plan', '-f', json.dumps(scenario), '--json')
    assert result.rc == 0 and re.search(r'"linkRate": 5(\.0+2)?e-0?5', result.stdout), result


def test_the_matrix_of_the_guide(run, golden):
    """Sizes and sums of the guide's pattern file, laid out as there."""
    text = run('plan', '--traffic_pattern', 'a2a', '-n', 'gb-ida-lr1-r8-[01-05]', '-d', 'mlx5_0', '--ptini_file',
               'scenarios/all2all_v.ptini', '--ptini_datatype', 'float32', cwd=ROOT).stdout
    begin, end = text.index('Test: '), text.index('skipped 3/20 zero-size pairs')
    golden('plan/guide_matrix.txt', text[begin:end])


@pytest.mark.plain
def test_command_lines(run, golden):
    """What is refused of a command line for many hosts, and of its options elsewhere."""
    lines = (ROOT / 'test/golden/plan/command_lines.in').read_text().splitlines()
    said = []
    for line in lines:
        result = run(line.split(), cwd=ROOT)
        assert result.rc == 1 and result.stdout == '' and result.stderr.count('\n') == 1
        said.append(f'{line}\n    {result.stderr}')
    golden('plan/command_lines.txt', ''.join(said))


@pytest.mark.plain
def test_malformed(run, golden):
    """File, line, column and path, the wrong thing and what is allowed, in one sentence each."""
    cases = json.loads((ROOT / 'test/golden/plan/malformed.json').read_text())
    assert len(cases) >= 100
    said = []
    for text in cases:
        result = run('plan', '-f', text)
        assert result.rc == 1 and result.stdout == '' and result.stderr.count('\n') == 1
        assert PLACED.match(result.stderr)
        said.append(f'{json.dumps(text)}\n    {result.stderr}')
    golden('plan/malformed.txt', ''.join(said))


def test_files(run, tmp_path):
    """A file is named by its path; what is no file of text is refused."""
    path = tmp_path / 's.json'
    path.write_text('{\n  "testNodes": [],\n  "x": 1\n}\n')
    said = run('plan', '-f', str(path)).stderr
    assert said.startswith(f'fabperf: {path}:2:16: $.testNodes: testNodes is a list of at least one ')
    path.write_bytes(b'{"a\0": 1}')
    assert 'is no text: it has a NUL at byte 3' in run('plan', '-f', str(path)).stderr
    assert f'{tmp_path} is no file' in run('plan', '-f', str(tmp_path)).stderr
    assert 'cannot open /nonexistent.json: No such file' in run('plan', '-f', '/nonexistent.json').stderr
    inside = tmp_path / 'plan.json'
    assert run('plan', '-f', 'scenarios/ring.json', '-j', str(inside), cwd=ROOT).stdout == ''
    assert json.loads(inside.read_text())['totals']['connections'] == 8
