"""A peer that dies while connections are made: the other side is told by the control connection and waits no longer."""
import os
import select
import signal
import socket
import threading
import time

import pytest

from e2e.test_control import children, frame, read_frame
from processes import SCALE

pytestmark = pytest.mark.waits

EXCHANGE = 7  # type of a frame: docs/internals/control.md
EXCHANGED = ('placement', 'addresses')  # what both sides send in such frames, until they connect
KINDS = {'ofi': ('-r', 'ofi', '-d', 'tcp'), 'MSG': ('-r', 'ofi', '-d', 'tcp', '-c', 'MSG'), 'TCP': ('-c', 'TCP')}


class Between(threading.Thread):
    """Passes on the frames of a client and its server; the victim's addresses are the last that the other hears."""

    def __init__(self, server_port, victim, pid):
        super().__init__(daemon=True)
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.port = self.listening.getsockname()[1]
        self.server_port, self.victim, self.pid = server_port, victim, pid
        self.killed = None  # when

    def run(self):
        with self.listening, self.listening.accept()[0] as client:
            with socket.create_connection(('127.0.0.1', self.server_port)) as server:
                self.carry({client: server, server: client}, client if self.victim == 'client' else server)

    def carry(self, other, victim):
        parts = {end: [] for end in other}
        while any(len(came) < len(EXCHANGED) for came in parts.values()):
            ready = select.select(list(other), [], [], 10 * SCALE)[0]
            assert ready, 'both ends are silent'
            for end in ready:
                kind, payload = read_frame(end)
                if kind == EXCHANGE:
                    parts[end].append(frame(kind, payload))
                if kind != EXCHANGE or len(parts[end]) < len(EXCHANGED):
                    other[end].sendall(frame(kind, payload))
        self.killed = time.monotonic()
        os.kill(self.pid(), signal.SIGKILL)
        other[victim].sendall(parts[victim][-1])
        other[victim].shutdown(socket.SHUT_WR)
        while read_frame(other[victim]):
            continue


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('victim', ['client', 'server'])
def test_a_peer_that_dies_while_connections_are_made(serve, start, victim, kind):
    server, port = serve()
    between = Between(port, victim, lambda: client.pid if victim == 'client' else children(server.pid)[0])
    between.start()
    client = start('-n', '127.0.0.1', '--port', between.port, '--launch_server', 'off', *KINDS[kind], '-q', '3')
    survivor = server if victim == 'client' else client
    survivor.until('closed the control connection', 'stderr', timeout=15)
    assert time.monotonic() - between.killed < 8 * SCALE  # the time for connecting is 10
    between.join(10 * SCALE)
    assert not between.is_alive()
    if victim == 'server':
        assert client.wait(10).rc == 1
