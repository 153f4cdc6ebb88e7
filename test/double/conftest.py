"""Fixtures that run the executable on the stand-in RDMA device, each side with faults of its own."""
import json
import os
import shutil
import tempfile
from pathlib import Path

import jsonschema
import pytest

from double.runs import Outcome, calls


@pytest.fixture(scope='session')
def library(fabperf):
    """The preloaded library, built beside the executable."""
    path = fabperf.parent / 'test' / 'libfabperf-double.so'
    if not path.exists():
        pytest.fail(f'{path} is missing: run "make" first', pytrace=False)
    return path


@pytest.fixture
def fabric():
    """A folder in memory for what the processes of one test share."""
    path = Path(tempfile.mkdtemp(prefix='fabperf-double-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def environment(library, fabric):
    """environment(faults) → variables that put a process onto the stand-in device."""
    def call(faults=''):
        sanitizer = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        if any(f'fail={name}:' in faults for name in calls('end', 'end_ud', 'end_events', 'end_cm', 'end_device')):
            sanitizer += ':detect_leaks=0'  # what the device refuses to end cannot but stay
        return {'LD_PRELOAD': str(library), 'LD_BIND_NOW': '1', 'FABPERF_DOUBLE': faults,
                'FABPERF_DOUBLE_DIR': str(fabric), 'ASAN_OPTIONS': sanitizer.lstrip(':')}
    return call


def side_counts(fabric):
    """Counts of the client, whose process is the run itself, and of the server."""
    return {int(path.stem.split('-')[1]): json.loads(path.read_text()) for path in fabric.glob('count-*.json')}


@pytest.fixture
def double(start, fabperf, free_port, fabric, environment, tmp_path, root):
    """double(words, client='', server='', both='', timeout=15) → Outcome of a run against a server started here."""
    schema = json.loads((root / 'docs' / 'result.schema.json').read_text())

    def call(words, client='', server='', both='', timeout=15):
        def joined(own):
            return ','.join(text for text in (both, own) if text)

        wrapper = tmp_path / 'server'
        wrapper.write_text(f'#!/bin/sh\nFABPERF_DOUBLE="{joined(server)}" exec {fabperf} "$@"\n')
        wrapper.chmod(0o755)
        process = start(*words, '-n', 'localhost', '--port', free_port(), '--server_exe', wrapper,
                        env=environment(joined(client)))
        pid = process.pid
        result = process.wait(timeout)
        if '--print_json_results' in words:
            jsonschema.validate(json.loads(result.stdout), schema)
        counts = side_counts(fabric)
        own = counts.pop(pid, {})
        return Outcome(result.rc, result.stdout, result.stderr, own, next(iter(counts.values()), {}))
    return call


@pytest.fixture
def refused(double):
    """refused(words, *parts, client=…, server=…) → the one sentence, with these parts, of a run that fails."""
    def call(words, *parts, **faults):
        outcome = double(words, **faults)
        lines = outcome.stderr.splitlines()
        assert outcome.rc == 1, outcome
        assert len(lines) == 1 and lines[0].startswith('fabperf: '), outcome.stderr
        for part in parts:
            assert part in lines[0], f'"{part}" is not in: {lines[0]}'
        return lines[0]
    return call
