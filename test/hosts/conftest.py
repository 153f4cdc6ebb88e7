"""Hosts with their own address, clock and sshd for the tests of this folder, made once and gone with the tests."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import GRACE_S, SCALE, Process, executable, kill

TOOL = Path(__file__).resolve().parent / 'hosts'
COUNT = 4


class Hosts:
    """node0, where the user sits, and node1 .. node<COUNT>, which ssh reaches from there."""

    def __init__(self, top, fabperf):
        self.top, self.fabperf = top, fabperf
        self.ssh = f'ssh -F {top}/ssh_config'  # what --ssh takes
        self.server = subprocess.Popen([sys.executable, TOOL, 'serve', top, str(COUNT)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != 'ready\n':
            raise RuntimeError(f'no hosts: {self.server.stderr.read()}')
        outer = (top / 'cluster.pid').read_text().strip()
        first = Path(f'/proc/{outer}/task/{outer}/children').read_text().split()[0]
        self.space = os.readlink(f'/proc/{first}/ns/pid')

    def close(self):
        self.server.stdin.close()
        self.server.wait(20)

    def command(self, name, *words, timeout=30, env=None):
        """Runs any program on a host → Result."""
        process = self.background(name, *words, env=env)
        try:
            return process.wait(timeout)
        finally:
            process.discard()

    def background(self, name, *words, env=None):
        """Any program in the background on a host → Process."""
        return Process([sys.executable, TOOL, 'on', self.top, name, *words], env)

    def start(self, name, *args, env=None):
        """fabperf in the background on a host → Process, whose pid and send() mean fabperf itself."""
        words = [sys.executable, TOOL, 'on', self.top, name, self.fabperf, *args]
        return Process(words, env, program=self.fabperf)

    def run(self, name, *args, timeout=60, env=None):
        """fabperf on a host → Result; fails when a fabperf is left on any host."""
        process = self.start(name, *args, env=env)
        try:
            return process.wait(timeout)
        finally:
            process.discard()
            left = self.leftovers()
            assert not left, f'{process} left fabperf on a host: {left}'

    def leftovers(self, grace=GRACE_S * SCALE):
        """fabperf processes on any host that do not end within the grace time, as {pid: command line}; kills them."""
        deadline = time.monotonic() + grace
        while (found := self.programs()) and time.monotonic() < deadline:
            time.sleep(0.02)
        kill(found)
        return found

    def programs(self):
        """fabperf processes on any host now, as {pid: command line}."""
        found = {}
        for entry in Path('/proc').iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / 'ns' / 'pid') == self.space:
                    if executable(entry.name) == self.fabperf:
                        found[int(entry.name)] = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode()
            except OSError:
                continue  # ended meanwhile
        return found

    def narrow(self, name, rate, size):
        """Gives datagrams on the wire towards a host a rate ('200mbit') and a tail-drop buffer of size bytes."""
        subprocess.run([sys.executable, TOOL, 'narrow', self.top, name, rate, str(size)], check=True)

    def dropped(self, name):
        """Datagrams that this buffer had no room for."""
        words = [sys.executable, TOOL, 'dropped', self.top, name]
        return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def link(self, name, state):
        """Cuts the wire of a host ('down'), or joins it again ('up')."""
        subprocess.run([sys.executable, TOOL, 'link', self.top, name, state], check=True)


@pytest.fixture(scope='session')
def hosts(tmp_path_factory, fabperf):
    """The hosts; they end with this process, however it ends."""
    made = Hosts(tmp_path_factory.mktemp('hosts'), fabperf)
    yield made
    made.close()
