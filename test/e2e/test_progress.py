"""What a terminal shows while a test runs: a bar on a terminal only, that leaves a clean line; live lines anywhere."""
import os
import pty
import re
import select
import subprocess
import time

import pytest

from processes import MARK, SCALE, leftovers

QUICK = ('-r', 'null', '-D', '0.6', '-w', '0')
CLEAR = '\r\x1b[K'
COLOUR = re.compile(r'\x1b\[[0-9;]*m')
LIVE = re.compile(r'^\[ *(\d+\.\d)s\]  (\S+) Gb/s  (\S+) Mpps$', re.M)


@pytest.fixture
def on_terminal(fabperf, free_port):
    """on_terminal(*options, stdout=True, term='xterm') → (exit status, what the terminal got, what a pipe got)."""
    def call(*options, stdout=True, term='xterm'):
        leader, follower = pty.openpty()
        mark = os.urandom(16).hex()
        environment = {**os.environ, 'TERM': term, MARK: mark}
        words = [str(word) for word in (fabperf, '-n', 'localhost', '--port', free_port(), *options)]
        output = follower if stdout else subprocess.PIPE
        process = subprocess.Popen(words, stdin=follower, stdout=output, stderr=follower, env=environment,
                                   start_new_session=True)
        os.close(follower)
        shown = read_all(leader, time.monotonic() + 30 * SCALE)
        os.close(leader)
        piped = process.communicate(timeout=30 * SCALE)[0]
        assert not leftovers(mark)
        if term == 'dumb':
            assert b'\x1b' not in shown
        text = COLOUR.sub('', shown.decode().replace('\r\n', '\n'))
        return process.returncode, text, (piped or b'').decode()
    return call


def read_all(leader, deadline):
    """Until the last process that has the terminal open ends."""
    shown = b''
    while (left := deadline - time.monotonic()) > 0 and select.select([leader], [], [], left)[0]:
        try:
            more = os.read(leader, 65536)
        except OSError:
            return shown
        if not more:
            return shown
        shown += more
    raise AssertionError(f'the terminal was still open: {shown!r}')


def remaining(shown):
    """The lines that stay on the screen: what comes after the last return to the start of a cleared line."""
    assert not re.search(r'\r(?!\x1b\[K)', shown), 'a line was overwritten without being cleared'
    return [line.rsplit(CLEAR, 1)[-1] for line in shown.split('\n')]


def test_a_bar_appears_and_leaves_a_clean_line(on_terminal):
    status, shown, _ = on_terminal(*QUICK)
    assert status == 0
    percents = [int(text) for text in re.findall(r'Running traffic \[[=> ]{40}\] (\d+)%', shown)]
    assert len(percents) >= 2 and percents == sorted(percents) and percents[-1] <= 100
    lines = remaining(shown)
    assert lines[0].startswith('Bandwidth: ')
    assert not any('Running traffic' in line or 'Preparing' in line or 'Finalizing' in line for line in lines)


def test_the_bar_goes_to_the_terminal_and_the_result_to_the_pipe(on_terminal):
    status, shown, piped = on_terminal(*QUICK, '--print_json_results', stdout=False)
    assert status == 0 and 'Running traffic' in shown
    assert piped.startswith('{') and '\x1b' not in piped and '\r' not in piped
    assert not any(remaining(shown))


def test_by_iterations_there_is_no_percentage(on_terminal):
    status, shown, _ = on_terminal('-r', 'null', '-w', '0', '-i', '60000', '--null_rate', '50G', '-s', '64K')
    assert status == 0
    assert 'Running traffic' in shown and '%' not in shown.split('Bandwidth:')[0]
    assert remaining(shown)[0].startswith('Bandwidth: ')


@pytest.mark.parametrize('options, term', [(('--non_interactive',), 'xterm'), ((), 'dumb')])
def test_no_bar_where_it_is_not_wanted(on_terminal, options, term):
    status, shown, _ = on_terminal(*QUICK, *options, term=term)
    assert status == 0
    assert shown.startswith('Bandwidth: ')
    assert 'Running' not in shown and 'Preparing' not in shown and '\r' not in shown


def test_no_bar_without_a_terminal(run, free_port):
    result = run('-n', 'localhost', '--port', free_port(), *QUICK)
    assert result.rc == 0 and result.stderr == ''
    assert '\r' not in result.stdout and '\x1b' not in result.stdout and 'Running' not in result.stdout


@pytest.mark.parametrize('options', [('-r', 'null', '--null_rate', '10G'), ('-c', 'TCP'), ('-c', 'UDP')])
def test_live_lines(run, free_port, options):
    result = run('-n', 'localhost', '--port', free_port(), '-D', '1', '-w', '0', '-R', '0.2', *options)
    assert result.rc == 0
    lines = LIVE.findall(result.stderr)
    assert 2 <= len(lines) <= 6, result.stderr
    assert len(lines) == len(result.stderr.splitlines())
    instants = [float(at) for at, _, _ in lines]
    assert instants == sorted(instants) and instants[-1] <= 1.3 * SCALE
    assert all(float(gbps) >= 0 and float(mpps) >= 0 for _, gbps, mpps in lines)
    assert any(float(gbps) > 0 for _, gbps, _ in lines)


def test_live_lines_show_the_true_rate(run, free_port):
    """What they add up to is never more than the link has carried, and as much where the worker was not held up."""
    words = ('-r', 'null', '-D', '2.1', '-w', '0', '-R', '0.5', '--null_rate', '10G')
    result = run('-n', 'localhost', '--port', free_port(), *words)
    carried, at, shares = 0, 0, []
    for now, gbps, _ in LIVE.findall(result.stderr):
        carried += float(gbps) * (float(now) - at)
        at = float(now)
        shares.append(carried / (10 * at))
    assert len(shares) >= 2
    assert all(share < 1.15 for share in shares)  # the instants are rounded to 0.1 s
    assert max(shares) == pytest.approx(1, abs=0.08)


def test_live_lines_scroll_past_the_bar(on_terminal):
    status, shown, _ = on_terminal('-r', 'null', '-D', '1', '-w', '0', '-R', '0.3', '--null_rate', '10G')
    assert status == 0 and 'Running traffic' in shown
    live = [line for line in remaining(shown) if LIVE.match(line)]
    assert len(live) >= 2
    assert not any('Running traffic' in line for line in remaining(shown))


def test_live_lines_without_a_bar(on_terminal):
    status, shown, _ = on_terminal('-r', 'null', '-D', '1', '-w', '0', '-R', '0.3', '--non_interactive')
    assert status == 0 and 'Running' not in shown
    assert len(LIVE.findall(shown)) >= 2
