"""The commands that README and docs/ print: each is understood, and goes as far as to call its other host."""
import re
import shlex
import socket
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = r'((?:[A-Z_]+=\S+ )*fabperf(?: [^`\n]*)?)'
FENCE = re.compile(r'^```.*?^```', re.M | re.S)


def commands(text):
    """Those in fences, a line each, and those in the text."""
    for block in FENCE.findall(text):
        for line in re.findall(rf'^(?:\$ )?{COMMAND}$', block, re.M):
            yield line.split(' #')[0].strip()
    yield from re.findall(f'`{COMMAND}`', FENCE.sub('', text))


def documented():
    files = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
    every = {command for file in files for command in commands(file.read_text())}
    names = ('fabperf', 'plan', 'knee', 'qperf', '--json', '…')  # spoken of, not to be typed
    return sorted(command for command in every if command.split()[-1] not in names)


@pytest.fixture
def stranger():
    """The port of a program that is no fabperf and says so to whoever calls."""
    listener = socket.create_server(('127.0.0.1', 0))

    def serve():
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.sendall(b'SSH-2.0-none\r\n')

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    thread.join()
    listener.close()


def test_the_docs_have_commands():
    assert len(documented()) > 80


@pytest.mark.parametrize('command', documented())
def test_a_command_of_the_docs_is_understood(run, environment, stranger, tmp_path, command):
    words = shlex.split(command)
    begin = words.index('fabperf')
    env = {**environment(), **dict(word.split('=') for word in words[:begin])}
    words = [re.sub('^(DEV|rxe[01]|mlx5_0)$', 'double0', word) for word in words[begin + 1:]]
    words = [re.sub('^(HOST|node2|localhost)$', '127.0.0.1', word).replace('FILE', '/dev/zero') for word in words]
    words = [str(tmp_path / word) if word == 'out.json' else word for word in words]
    many = '--traffic_pattern' in words or '-f' in words
    if many:  # what a run would do
        bursts = ['--burst_profile', 'sync_burst', '--burst_size', '8:2048:*2'] if words[0] == 'knee' else []
        for option in {'--second_incast', '--curve'} & set(words):
            del words[words.index(option):words.index(option) + 2]
        left_out = ('plan', 'knee', '-j', str(tmp_path / 'out.json'))
        words = ['plan', *(word for word in words if word not in left_out), *bursts]
    elif '--help' not in words:
        place = 2 if words[0] == 'qperf' else len(words)
        words[place:place] = ['-lp' if words[0] == 'qperf' else '--port', str(stranger)]
    result = run(*words, env={} if many or 'ofi' in words else env, cwd=ROOT)
    if many or '--help' in words:
        assert result.rc == 0 and not result.stderr, result
    elif words[0] == 'qperf':
        assert result.rc == 1 and 'server' in result.stdout and ' try: ' not in result.stdout, result
    else:
        assert result.rc == 1 and 'is not a fabperf server' in result.stderr, result
