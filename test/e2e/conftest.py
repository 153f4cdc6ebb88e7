"""Fixtures of the end-to-end tests: a measurement between two processes here, and a server to measure against."""
import pytest

from e2e.result_schema import check


@pytest.fixture
def measure(run, free_port):
    """measure('-r', 'null', rc=0) → the checked document of a client that starts its server by itself."""
    def call(*options, rc=0, host='localhost', timeout=60):
        for _ in range(5):  # on a busy host a short window may pass without a single message
            result = run('-n', host, '--port', free_port(), '--print_json_results', *options, timeout=timeout)
            if 'no message completed inside the window' not in result.stderr:
                break
        assert result.rc == rc, result
        return check(result.stdout)
    return call


def disturbed(results):
    """A worker did not get its core when its window began or ended, and the document says so."""
    return {remark['id'] for remark in results['remarks']} & {'shortWindow', 'edgeBracket'}


@pytest.fixture
def measured(measure):
    """measured(*options) → the connection of a run that had its window; a busy machine may need several runs."""
    def call(*options, **more):
        for _ in range(6):
            document = measure(*options, **more)
            results = document['connections'][0]
            assert document['status'] == results['status'] == 'ok'
            if not disturbed(results):
                return results
        pytest.fail(f'the machine was too busy in each of 6 runs: {results["remarks"]}')
    return call


@pytest.fixture
def serve(start, free_port):
    """serve(*options) → (Process, port) of a server that listens."""
    def call(*options):
        port = free_port()
        process = start('--port', port, *options)
        process.until('waiting for clients on port', 'stderr')
        return process, port
    return call
