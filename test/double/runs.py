"""What the tests on the stand-in RDMA device share: words of a run, what it left, and what its counts must be."""
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TWO_SIDED = ('write_imm', 'send')
OBJECTS = ('context', 'pd', 'mr', 'dm', 'channel', 'cq', 'qp', 'ah', 'cm_channel', 'cm_id', 'dmah', 'xrcd')


@dataclass(frozen=True)
class Outcome:
    """Exit status, both outputs, and the device's own counts of each side; a side that opened no device has none."""
    rc: int
    stdout: str
    stderr: str
    client: dict = field(default_factory=dict)
    server: dict = field(default_factory=dict)

    @property
    def json(self):
        return json.loads(self.stdout)

    @property
    def connection(self):
        return self.json['connections'][0]

    def alive(self):
        """Objects of the device that were not given back, by side and kind."""
        sides = {'client': self.client, 'server': self.server}
        return {f'{side} {kind}': counts[kind] for side, counts in sides.items() for kind in OBJECTS
                if counts.get(kind)}


def calls(*when):
    """Names of the calls that can be made to fail, of these kinds or all: the library's own table."""
    table = re.findall(r'CALL\((\w+), (\w+)\)', (FOLDER / 'calls.h').read_text())
    return [name for name, kind in table if kind in when or not when]


def options(connection, verb, metric, *more, iterations=200):
    """Words of a short run."""
    size = '8' if verb.startswith('atomic') else '64'
    return ['-d', 'double0', '-c', connection, '-v', verb, '-m', metric, '-s', size, '-i', str(iterations), '-w', '0',
            *more]


def total(outcome, key):
    """Sum over the workers of both sides."""
    return sum(row[key] or 0 for row in outcome.connection['resultsPerProcess'])


def check_bandwidth(outcome, verb):
    assert outcome.rc == 0 and outcome.stderr == '', outcome
    assert outcome.json['status'] == 'ok'
    assert not outcome.alive()
    assert total(outcome, 'totalSent') == outcome.client['sent'] >= 200
    if verb in TWO_SIDED:
        loss = outcome.connection['loss']
        assert loss['sent'] == loss['received'] + loss['lost']
        assert loss['received'] == total(outcome, 'totalReceived') == outcome.server['received']
        assert loss['lost'] == outcome.client['dropped'] + outcome.client['unreceived']
