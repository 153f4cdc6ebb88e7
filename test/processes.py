"""Starts the executable in a session of its own and finds every process that a run left behind."""
import os
import re
import select
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

MARK = 'FABPERF_TEST_RUN'  # an environment variable that all descendants inherit, however they detach
GRACE_S = 2.0  # what a run started may take this long to end after the run itself
SCALE = float(os.environ.get('FABPERF_TIME_SCALE', '1'))  # sanitizers and emulated machines need more time


@dataclass(frozen=True)
class Result:
    """What a run that ended left: exit status (negative: killed by that signal) and both outputs."""
    rc: int
    stdout: str
    stderr: str


def marked(mark):
    """Processes whose environment carries the mark, as {pid: command line}; zombies have none."""
    found = {}
    for entry in Path('/proc').iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f'{MARK}={mark}'.encode() in (entry / 'environ').read_bytes().split(b'\0'):
                found[int(entry.name)] = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode().strip()
        except OSError:
            continue  # ended meanwhile, or a zombie
    return found


def executable(pid):
    """Path of a process's executable, None when it has ended."""
    try:
        return Path(f'/proc/{pid}/exe').resolve(strict=True)
    except OSError:
        return None


def kill(pids):
    """Kills the processes; those that ended meanwhile are fine."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def leftovers(mark, grace=GRACE_S * SCALE):
    """Waits until no process carries the mark; kills and returns those that are there after the grace time."""
    deadline = time.monotonic() + grace
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    kill(found)
    return found


class Process:
    """The executable in the background: a server, or a client to interrupt."""

    def __init__(self, command, env=None, cwd=None, program=None):
        self.mark = uuid.uuid4().hex
        self.command = [str(word) for word in command]
        self.program = program  # its path where it is not the first word of the command
        environment = dict(os.environ, **{MARK: self.mark}, **(env or {}))
        self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=environment, cwd=cwd, start_new_session=True)
        self.seen = {'stdout': b'', 'stderr': b''}  # what until() has read already
        self.result = None

    @property
    def pid(self):
        """Of the program itself, as this machine counts; None when it is not there (any more)."""
        if self.program is None:
            return self.popen.pid
        return next((pid for pid in sorted(marked(self.mark)) if executable(pid) == Path(self.program)), None)

    def running(self):
        return self.result is None and self.popen.poll() is None

    def send(self, number):
        if self.running() and (pid := self.pid):
            os.kill(pid, number)

    def until(self, pattern, stream='stdout', timeout=10):
        """Reads 'stdout' or 'stderr' until the pattern is there → its match; AssertionError at the end or in time."""
        file = getattr(self.popen, stream).fileno()
        deadline = time.monotonic() + timeout * SCALE
        while not (match := re.search(pattern, self.seen[stream].decode(errors='replace'))):
            left = deadline - time.monotonic()
            more = os.read(file, 65536) if left > 0 and select.select([file], [], [], left)[0] else b''
            assert more, f'{self}: no {pattern!r} on {stream}, only {self.seen[stream]!r}'
            self.seen[stream] += more
        return match

    def wait(self, timeout=60):
        """Waits for the end and returns the Result; a time-out or a process left behind is an AssertionError."""
        if self.result is not None:
            return self.result
        try:
            out, err = self.popen.communicate(timeout=timeout * SCALE)
        except subprocess.TimeoutExpired:
            out, err = self._kill()
            late = f'{self} still ran after {timeout * SCALE:g} s'
            raise AssertionError(f'{late}\nstdout: {out}\nstderr: {err}') from None
        self._set_result(out, err)
        left = leftovers(self.mark)
        assert not left, f'{self} left processes behind: {left}'
        return self.result

    def stop(self, number=signal.SIGTERM, timeout=10):
        """Ends it by a signal, if it still runs, and returns the Result."""
        if self.running():
            self.send(number)
        return self.wait(timeout)

    def discard(self):
        """Kills whatever is left of it, silently."""
        if self.result is None:
            self._kill()

    def _kill(self):
        kill(marked(self.mark))
        self.popen.kill()
        try:
            out, err = self.popen.communicate(timeout=5)
        except (subprocess.TimeoutExpired, ValueError):
            out, err = b'', b''
        self._set_result(out, err)
        return self.result.stdout, self.result.stderr

    def _set_result(self, out, err):
        texts = (self.seen['stdout'] + out, self.seen['stderr'] + err)
        self.result = Result(self.popen.returncode, *(text.decode(errors='replace') for text in texts))

    def __str__(self):
        return ' '.join(self.command)
