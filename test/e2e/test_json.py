"""The result document in every way that a run can end: complete, valid, with the right status, nothing beside it."""
import json
import os
import re
import subprocess
import signal
import time
from pathlib import Path

import pytest

from e2e.result_schema import check
from processes import SCALE, marked

pytestmark = pytest.mark.waits

NULL = ('-r', 'null', '-w', '0')
QUICK = (*NULL, '-D', '0.2')
LONG = (*NULL, '-D', '30', '-R', '0.2')
TRANSPORTS = [('-r', 'null'), ('-r', 'null', '-m', 'lat', '--null_latency', '5us'), ('-c', 'TCP'), ('-c', 'UDP'),
              ('-c', 'TCP', '-m', 'lat')]


def failed(document, *parts):
    """Status and sentence of a run that measured nothing."""
    assert document['status'] == 'failed'
    for part in parts:
        assert part in document['error']
    figures = document['connections'][0]['results']
    assert figures == {'bwResults': None, 'latResults': None, 'operations': None,
                       'validationResults': None}
    assert document['aggregatedResults']['bwResults'] is None
    return document


def kept(document):
    """The figures of a run that was interrupted."""
    assert document['status'] == 'interrupted'
    results = document['connections'][0]
    assert results['status'] == 'interrupted'
    figures = results['results']['bwResults'] or results['results']['latResults']
    assert figures.get('messages', figures.get('samples')) > 0
    return results


@pytest.fixture
def client(start, free_port):
    """client(*options) → Process of a client with a server of its own; its JSON goes to stdout."""
    return lambda *options, port=None, **more: start('-n', 'localhost', '--port', port or free_port(), *options,
                                                     '--print_json_results', **more)


def endless(options):
    """Half a minute of traffic, and live lines where there are any."""
    return ('-w', '0', '-D', '30', *(() if 'lat' in options else ('-R', '0.2')))


def started(process):
    process.until(r'Gb/s', 'stderr')
    return process


def serving_child(process):
    deadline = time.monotonic() + 5 * SCALE
    while not (found := Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(found[0])


def measuring(process, options):
    """The test runs: it has told so by a live line; a latency test by what its polling client burns."""
    if 'lat' not in options:
        started(process)
        return
    ticks, deadline = 0, time.monotonic() + 10 * SCALE
    while ticks < 0.3 * os.sysconf('SC_CLK_TCK'):
        assert time.monotonic() < deadline
        time.sleep(0.02)
        fields = Path(f'/proc/{process.pid}/stat').read_text().rsplit(')', 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])


# --- success ---

@pytest.mark.parametrize('options', TRANSPORTS)
def test_success(run, free_port, options):
    """Stdout holds one document and nothing else, stderr nothing."""
    result = run('-n', 'localhost', '--port', free_port(), '--print_json_results', *options, '-D', '0.2', '-w', '0')
    assert result.rc == 0 and result.stderr == ''
    document = check(result.stdout)
    assert (document['status'], document['error']) == ('ok', None)
    assert json.dumps(json.loads(result.stdout)) and result.stdout.count('\n{') == 0
    results = document['connections'][0]
    metric = 'latResults' if 'lat' in options else 'bwResults'
    assert results['results'][metric] and not results['results'][{'latResults': 'bwResults'}.get(metric, 'latResults')]
    assert (results['requestor']['role'], results['responder']['role']) == ('client', 'server')
    assert results['setupSec'] > 0


def test_the_file_and_stdout_are_the_same_document(run, free_port, tmp_path):
    path = tmp_path / 'result.json'
    result = run('-n', 'localhost', '--port', free_port(), *QUICK, '--print_json_results', '-j', path)
    assert result.rc == 0
    assert path.read_text() == result.stdout
    assert os.listdir(tmp_path) == ['result.json']
    assert check(path.read_text())['scenario']['outputFile'] == str(path)


def test_a_file_beside_the_report(run, free_port, tmp_path):
    path = tmp_path / 'result.json'
    path.write_text('an older one')
    result = run('-n', 'localhost', '--port', free_port(), *QUICK, '-j', path)
    assert result.rc == 0 and result.stdout.startswith('Bandwidth: ')
    assert result.stderr == f'fabperf: the result is in {path}\n'
    assert check(path.read_text())['status'] == 'ok'


def test_the_default_file_is_named_after_the_time(run, free_port, tmp_path):
    for host, rc in (('localhost', 0), ('no-such-host.invalid', 1)):
        result = run('-n', host, '--port', free_port(), *QUICK, '-j', cwd=tmp_path)
        assert result.rc == rc
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 2
    for name in names:
        match = re.fullmatch(r'fabperf_results_(\d{8}T\d{6})\.\d{3}Z\.json', name)
        assert abs(time.mktime(time.strptime(match[1], '%Y%m%dT%H%M%S')) - time.mktime(time.gmtime())) < 300
        check((tmp_path / name).read_text())


# --- refusals and what cannot be reached ---

@pytest.mark.parametrize('options, part', [
    (('-r', 'null', '-c', 'TCP'), '-c TCP does not go with -r null'),
    (('-c', 'UD', '-r', 'null', '-v', 'read'), '-v read'),
    (('-r', 'null', '-s', '16', '-v', 'atomic_fa'), 'atomic'), (('-r', 'null', '--gso', 'on'), '--gso'),
    (('-r', 'null', '-D', '1', '-i', '5'), 'exclude each other'), (('-r', 'null', '-C', '1000'), '1000'),
    (('-c', 'TCP', '-d', 'no-such-if'), 'no-such-if'),
])
def test_refusals(run, free_port, options, part):
    result = run('-n', 'localhost', '--port', free_port(), '--print_json_results', *options)
    assert result.rc == 1 and len(result.stderr.splitlines()) == 1 and part in result.stderr
    document = failed(check(result.stdout), part)
    assert result.stderr == f"fabperf: {document['error']}\n"


def test_the_server_refuses(run, serve):
    process, port = serve('--memory_limit', '16M')
    words = ('-n', 'localhost', '--port', port, '--launch_server', 'off', '--print_json_results', *QUICK)
    result = run(*words, '-s', '1M')
    assert result.rc == 1
    failed(check(result.stdout), '--memory_limit', '16 MiB')
    assert run(*words, '-s', '64').rc == 0
    assert process.stop().rc == 0


def test_the_server_has_conditions(run, serve):
    _, port = serve('-c', 'UD')
    words = ('-n', 'localhost', '--port', port, '--launch_server', 'off', '--print_json_results', *QUICK)
    failed(check(run(*words).stdout), 'this server was started with -c UD', 'RC')
    assert run(*words, '-c', 'UD').rc == 0


@pytest.mark.parametrize('host, options, parts', [
    ('no-such-host.invalid', (), ('no-such-host.invalid',)),
    ('localhost', ('--launch_server', 'disable'), ('localhost',)),
    ('127.0.0.1', ('--launch_server', 'off'), ('127.0.0.1',)),
    ('192.0.2.1', ('--launch_server', 'off'), ('192.0.2.1',)),
    ('192.0.2.1', ('--ssh', 'sleep 30 ;'), ('192.0.2.1',)), ('192.0.2.1', ('--ssh', '/no/such/ssh'), ('/no/such/ssh',)),
])
def test_a_host_that_is_not_reached(run, free_port, host, options, parts):
    begin = time.monotonic()
    result = run('-n', host, '--port', free_port(), '--print_json_results', '--connect_timeout', '1', *QUICK, *options)
    assert time.monotonic() - begin < 8 * SCALE
    assert result.rc == 1 and len(result.stderr.splitlines()) == 1
    document = failed(check(result.stdout), *parts)
    assert document['connections'][0]['responder']['hostName'] in (None, host)


# --- ends in the middle ---

@pytest.mark.parametrize('options', TRANSPORTS)
@pytest.mark.tsan
def test_a_killed_server(client, serve, options):
    """The process that serves us, without a word: named at once, as its connection breaks."""
    server, port = serve()
    process = client(*options, *endless(options), port=port)
    measuring(process, options)
    os.kill(serving_child(server), signal.SIGKILL)
    begin = time.monotonic()
    result = process.wait(12)
    assert time.monotonic() - begin < 3 * SCALE
    assert result.rc == 1 and 'localhost' in result.stderr
    document = check(result.stdout)
    assert document['status'] == 'failed' and 'localhost' in document['error']
    assert server.running()


@pytest.mark.parametrize('options', TRANSPORTS[:3])
def test_a_stopped_server(client, serve, options):
    """It is there but silent: named after 5 s."""
    server, port = serve()
    process = client(*options, *endless(options), port=port)
    measuring(process, options)
    stopped = serving_child(server)
    os.kill(stopped, signal.SIGSTOP)
    begin = time.monotonic()
    result = process.wait(15)
    assert 1 <= time.monotonic() - begin <= 6 * SCALE  # 5 s after the last beat, which a busy machine may have held up
    os.kill(stopped, signal.SIGCONT)
    assert result.rc == 1
    document = check(result.stdout)
    assert document['status'] == 'failed' and re.search(r"host 'localhost' has been silent for \d", document['error'])


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('options', TRANSPORTS[:4])
def test_interrupted(client, options, number):
    """Figures until then are kept, on both sides."""
    process = client(*options, *endless(options))
    if 'lat' in options:
        time.sleep(1 * SCALE)
    else:
        started(process)
    process.send(number)
    begin = time.monotonic()
    result = process.wait(10)
    assert time.monotonic() - begin < 3 * SCALE
    assert result.rc == 130, result
    results = kept(check(result.stdout))
    assert results['requestor']['window']['durationSec'] < 30
    if results['loss'] and 'null' not in options:
        assert results['loss']['sent'] == results['loss']['received'] + results['loss']['lost']


def test_interrupted_as_by_a_terminal(client):
    """Ctrl-C goes to all processes of the group, the launched server's too: still one run that was interrupted."""
    process = started(client(*LONG))
    os.killpg(process.popen.pid, signal.SIGINT)
    result = process.wait(10)
    assert result.rc == 130, result
    kept(check(result.stdout))


def test_interrupted_twice(client, serve):
    """The second Ctrl-C waits for nothing: here the other side is silent."""
    server, port = serve()
    process = started(client(*LONG, port=port))
    stopped = serving_child(server)
    os.kill(stopped, signal.SIGSTOP)
    process.send(signal.SIGINT)
    time.sleep(0.5)
    process.send(signal.SIGINT)
    assert process.wait(3).rc == -signal.SIGINT
    os.kill(stopped, signal.SIGCONT)


@pytest.mark.parametrize('options', [('-w', '30'), ('-i', '1000000000000', '--warmup_iterations', '100000000000')])
@pytest.mark.tsan
def test_interrupted_in_the_warm_up(client, options):
    """There is no figure yet, and none is made up."""
    process = client('-r', 'null', '--null_rate', '10G', *options)
    deadline = time.monotonic() + 5 * SCALE
    while len(marked(process.mark)) < 3 and time.monotonic() < deadline:  # the client, its server, the one who serves
        time.sleep(0.02)
    time.sleep(0.3 * SCALE)
    process.send(signal.SIGINT)
    result = process.wait(10)
    assert result.rc == 130, result
    document = check(result.stdout)
    assert document['status'] == 'interrupted'
    assert document['connections'][0]['results'] == {'bwResults': None, 'latResults': None, 'operations': None,
                                                      'validationResults': None}


def test_interrupted_while_it_waits_for_its_turn(client, serve):
    server, port = serve()
    first = started(client(*LONG, port=port))
    second = client(*LONG, '--connect_timeout', '3', port=port)
    time.sleep(0.5 * SCALE)
    second.send(signal.SIGINT)
    result = second.wait(15)
    assert result.rc == 130, result
    assert check(result.stdout)['status'] == 'interrupted'
    assert first.stop(signal.SIGINT).rc == 130
    assert server.stop().rc == 0


def test_the_interrupted_server_is_named(client, serve):
    server, port = serve()
    process = started(client(*LONG, port=port))
    assert server.stop(signal.SIGINT).rc == 0
    result = process.wait(10)
    assert result.rc == 130, result
    assert 'localhost' in kept(check(result.stdout))['error']


# --- where the document goes ---

@pytest.mark.parametrize('path, reason', [
    ('/no/such/directory/x.json', 'No such file or directory'), ('/', 'Is a directory'), ('/proc/version', ''),
])
def test_a_file_that_cannot_be_written(run, free_port, path, reason):
    """It is said before anything runs."""
    result = run('-n', 'localhost', '--port', free_port(), *QUICK, '-j', path)
    assert result.rc == 1 and not result.stdout
    assert len(result.stderr.splitlines()) == 1
    assert f'the result could not be written to {path}' in result.stderr and reason in result.stderr


def test_a_pipe_that_nobody_reads(run, free_port, tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    result = run('-n', 'localhost', '--port', free_port(), *QUICK, '-j', tmp_path / 'pipe', timeout=20)
    assert result.rc == 1 and not result.stdout and len(result.stderr.splitlines()) == 1


def test_a_file_that_becomes_full(run, free_port):
    """The report is printed all the same; the exit status tells."""
    result = run('-n', 'localhost', '--port', free_port(), *QUICK, '-j', '/dev/full')
    assert result.rc == 1 and result.stdout.startswith('Bandwidth: ')
    assert len(result.stderr.splitlines()) == 1
    assert 'cannot write the result to /dev/full: No space left on device' in result.stderr


def test_a_file_that_may_not_grow(fabperf, free_port, tmp_path):
    """The limit of a file's size is an error of its write, not the end of the process by SIGXFSZ."""
    words = [str(word) for word in (fabperf, '-n', 'localhost', '--port', free_port(), *QUICK, '-N', 60,
                                      '-j', tmp_path / 'r.json')]
    ended = subprocess.run(['bash', '-c', 'ulimit -f 64; exec "$@"', 'bash', *words], capture_output=True, text=True,
                           timeout=30 * SCALE, check=False)
    assert ended.returncode == 1 and ended.stdout.startswith('Bandwidth: ')
    assert len(ended.stderr.splitlines()) == 1 and 'File too large' in ended.stderr
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize('options', [(), ('--print_json_results',)])
def test_a_full_stdout(fabperf, free_port, options):
    with open('/dev/full', 'w') as full:
        words = [str(word) for word in (fabperf, '-n', 'localhost', '--port', free_port(), *QUICK, *options)]
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=30 * SCALE, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1 and 'stdout' in ended.stderr


@pytest.mark.parametrize('words', [('--help',), ('--version',), ('qperf', '--help', 'options')])
def test_words_that_cannot_be_written(fabperf, words):
    with open('/dev/full', 'w') as full:
        ended = subprocess.run([str(fabperf), *words], stdout=full, stderr=subprocess.PIPE, text=True,
                               timeout=30 * SCALE, check=False)
    assert ended.returncode == 1 and ended.stderr == 'fabperf: cannot write to stdout: it is full or closed\n'


# --- thresholds ---

@pytest.mark.parametrize('options, rc', [
    (('--null_rate', '10G', '--bw_threshold', '9.9'), 0), (('--null_rate', '10G', '--bw_threshold', '10.2'), 2),
    (('-m', 'lat', '--null_latency', '50us', '--lat_threshold', '49'), 2),
    (('-m', 'lat', '--null_latency', '50us', '--lat_threshold', '5000'), 0),
])
def test_thresholds(run, free_port, options, rc):
    result = run('-n', 'localhost', '--port', free_port(), '--print_json_results', *QUICK, *options)
    document = check(result.stdout)
    if not {remark['id'] for remark in document['connections'][0]['remarks']} & {'shortWindow', 'edgeBracket'}:
        assert result.rc == rc
    assert (result.rc, document['status']) in ((0, 'ok'), (2, 'threshold'))
    threshold = document['connections'][0]['threshold']
    assert threshold['status'] == ('passed' if result.rc == 0 else 'missed')
    assert threshold == document['aggregatedResults']['threshold']
    assert threshold['value'] == float(options[-1])
