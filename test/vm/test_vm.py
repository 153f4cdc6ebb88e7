"""Boots one emulated machine, runs the tests of guest_*.py in it by pytest, and brings their results back."""
import os
import shlex
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMIT_S = int(os.environ.get('FABPERF_VM_LIMIT', '1500'))
TIME_SCALE = '4'  # how much longer than on this machine a wait may be there


def vmrun(*options, command, timeout=300):
    """Runs a command in a machine of its own; the time limit includes the boot."""
    words = [str(HERE / 'vmrun'), '-t', str(timeout), *options, command]
    return subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_exit_status_and_outputs_come_back():
    ran = vmrun(command='echo to stdout; echo to stderr >&2; exit 7')
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, 'to stdout\n', 'to stderr\n')


def test_time_limit_ends_the_machine():
    ran = vmrun(command='sleep 100', timeout=1)
    assert (ran.returncode, ran.stdout) == (124, '')
    assert ran.stderr == 'vmrun: the command did not end within 1 s\n'


@pytest.mark.flaky(reruns=0)
def test_guest(fabperf, tmp_path):
    """All guest tests; $FABPERF_RESULTS names a directory for their junit file, $FABPERF_GUEST_TESTS chooses (-k)."""
    results = Path(os.environ.get('FABPERF_RESULTS', tmp_path))
    junit = results / 'guest.xml'
    junit.unlink(missing_ok=True)
    choice = os.environ.get('FABPERF_GUEST_TESTS')
    words = ['/usr/bin/python3', '-m', 'pytest', '-q', '--tb=short', '-o', 'python_files=guest_*.py',
             f'--junitxml={junit}', '--reruns=2', *(['-k', choice] if choice else []), 'test/vm', 'test/peers']
    environment = (f'FABPERF={shlex.quote(str(fabperf))} FABPERF_TIME_SCALE={TIME_SCALE} '
                   f'FABPERF_RESULTS={shlex.quote(str(results))}')
    ran = vmrun('-o', str(results), timeout=LIMIT_S,
                command=f'. test/vm/guest.sh && {environment} {shlex.join(words)}')
    print(ran.stdout, ran.stderr)
    if not junit.exists():
        pytest.fail(f'the tests in the machine did not end: status {ran.returncode}', pytrace=False)
    suite = ElementTree.parse(junit).getroot().find('testsuite')
    assert ran.returncode == 0 and int(suite.get('failures')) + int(suite.get('errors')) == 0
    assert int(suite.get('tests')) > 0
