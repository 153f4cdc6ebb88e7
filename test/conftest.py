"""Fixtures of all tiers: the executable under test, runs of it that must leave nothing behind, free ports."""
import os
import socket
import sys
from pathlib import Path

import pytest

from processes import Process

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser):
    parser.addoption('--one-in', type=int, default=1, metavar='N',
                     help="run each test with every Nth set of its parameters, from the first on")


def pytest_collection_modifyitems(config, items):
    """With --one-in N a slow build (a sanitizer's) runs every test function, but not with all that is put into it."""
    seen, left_out = {}, []
    for item in items[:]:
        function = item.nodeid.split('[')[0]
        seen[function] = seen.get(function, -1) + 1
        if seen[function] % config.getoption('--one-in'):
            left_out.append(item)
            items.remove(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def pytest_runtest_logreport(report):
    """A test that failed and is tried again is named in $FABPERF_RESULTS/tries, with the reason, for tools/check."""
    folder = os.environ.get('FABPERF_RESULTS')
    if report.outcome == 'rerun' and folder and 'PYTEST_XDIST_WORKER' not in os.environ:
        reason = str(getattr(report.longrepr, 'reprcrash', report.longrepr) or '').splitlines() or ['']
        with open(f'{folder}/tries', 'a', encoding='utf-8') as file:
            file.write(f'{report.nodeid}: {reason[0][:300]}\n')


@pytest.fixture(scope='session')
def root():
    """The root of the source tree."""
    return ROOT


@pytest.fixture(scope='session')
def fabperf():
    """Path of the executable under test: $FABPERF, else build/fabperf."""
    path = Path(os.environ.get('FABPERF', ROOT / 'build' / 'fabperf')).resolve()
    if not os.access(path, os.X_OK):
        pytest.fail(f'{path} is missing: run "make" first, or set FABPERF', pytrace=False)
    return path


@pytest.fixture
def run(fabperf):
    """run('-r', 'null', timeout=60, env={}, cwd=None) → Result; fails when a process outlives it."""
    def call(*args, timeout=60, env=None, cwd=None):
        words = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        process = Process([fabperf, *words], env, cwd)
        try:
            return process.wait(timeout)
        finally:
            process.discard()
    return call


@pytest.fixture
def start(fabperf):
    """start('--port', port) → Process in the background; what the test does not stop is killed at its end."""
    started = []

    def call(*args, env=None, cwd=None):
        words = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        started.append(Process([fabperf, *words], env, cwd))
        return started[-1]

    yield call
    for process in started:
        process.discard()


@pytest.fixture
def free_port():
    """free_port() → a TCP port that nobody listens at now; never the same twice in a test."""
    given = set()

    def call():
        while True:
            with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                probe.bind(('::', 0))
                port = probe.getsockname()[1]
            if port not in given:
                given.add(port)
                return port
    return call
