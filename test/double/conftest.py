"""Fixtures that run the executable on the stand-in RDMA device, each side with faults of its own."""
import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path

import jsonschema
import pytest

from double.runs import Outcome


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
    """environment(faults, folder=fabric) → variables that put a process onto the stand-in device."""
    def call(faults='', folder=fabric):
        sanitizer = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        return {'LD_PRELOAD': str(library), 'LD_BIND_NOW': '1', 'FABPERF_DOUBLE': faults,
                'FABPERF_DOUBLE_DIR': str(folder), 'ASAN_OPTIONS': sanitizer.lstrip(':'),
                'LD_LIBRARY_PATH': os.environ.get('LD_LIBRARY_PATH', str(library.parent / 'double' / 'mlx5'))}
    return call


def side_counts(folder):
    """Counts of each process that had a device open, by its number."""
    return {int(path.stem.split('-')[1]): json.loads(path.read_text()) for path in folder.glob('count-*.json')}


@pytest.fixture
def double(start, fabperf, free_port, fabric, environment, tmp_path, root):
    """double(words, client='', server='', both='', timeout=15, apart=False) → Outcome of a run with its server, which
    the client starts unless apart; many may be under way in threads, each with a fabric of its own."""
    schema = json.loads((root / 'docs' / 'result.schema.json').read_text())
    numbers = itertools.count()

    def own_server(port, faults, folder):
        """A server that is not pressed for time when its client has left; what ends it is returned."""
        server = start('--port', port, '--once', env=environment(faults, folder))
        server.until('waiting for clients', 'stderr')

        def end():
            text = server.stop().stderr
            assert 'Sanitizer' not in text, text
        return end, ('--launch_server', 'off')

    def launched_server(number, faults):
        """What makes the client start a server with these faults; it ends by itself."""
        wrapper = tmp_path / f'server-{number}'
        wrapper.write_text(f'#!/bin/sh\nFABPERF_DOUBLE="{faults}" exec {fabperf} "$@"\n')
        wrapper.chmod(0o755)
        return lambda: None, ('--server_exe', wrapper)

    def call(words, client='', server='', both='', timeout=15, apart=False):
        def joined(own):
            return ','.join(text for text in (both, own) if text)

        number, port = next(numbers), free_port()
        folder = fabric / str(number)
        folder.mkdir()
        end, more = own_server(port, joined(server), folder) if apart else launched_server(number, joined(server))
        process = start(*words, '-n', 'localhost', '--port', port, *more, env=environment(joined(client), folder))
        pid = process.pid
        result = process.wait(timeout)
        end()
        if '--print_json_results' in words:
            jsonschema.validate(json.loads(result.stdout), schema)
        counts = side_counts(folder)
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
