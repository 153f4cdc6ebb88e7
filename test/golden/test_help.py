"""The help as it is printed, and that it can be read."""
import re


def test_help(run, golden):
    result = run('--help')
    assert (result.rc, result.stderr) == (0, '')
    golden('help.txt', result.stdout)


def test_both_spellings(run):
    assert run('-h') == run('--help')


def test_version(run):
    result = run('--version')
    assert (result.rc, result.stderr) == (0, '')
    assert re.fullmatch(r'fabperf \d+\.\d+\.\d+\n', result.stdout)
    assert run('-V') == result


def test_columns(run):
    lines = run('--help').stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert not [line for line in lines if line != line.rstrip() or '\t' in line]
