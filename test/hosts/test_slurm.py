"""A scenario inside allocations of a real Slurm, whose daemons run on the hosts: Slurm starts the ranks."""
import json
import os
import shutil
import time
from types import SimpleNamespace

import pytest

from e2e.result_schema import check
from processes import SCALE

PROGRAMS = {'mpirun': 'openmpi-bin', 'munged': 'munge', 'slurmctld': 'slurmctld', 'slurmd': 'slurmd',
            'salloc': 'slurm-client'}
MISSING = [package for program, package in PROGRAMS.items()
           if not shutil.which(program, path=f'{os.environ.get("PATH", "")}:/usr/sbin')]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f'no {", ".join(MISSING)} (Debian packages)')

CONF = '''ClusterName=test
SlurmctldHost=node0
SlurmUser=root
AuthInfo=socket={top}/munge.sock
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool-%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd-%n.pid
SlurmctldLogFile={top}/slurmctld.log
SlurmdLogFile={top}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=node[1-3] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
'''


def await_nodes(top, do):
    """Until the controller has all three."""
    deadline = time.monotonic() + 60 * SCALE
    while '3 idle' not in (result := do('node0', 'sinfo', '-h', '-o', '%D %T')).stdout:
        assert time.monotonic() < deadline, (result, *[log.read_text()[-2000:] for log in top.glob('*.log')])
        time.sleep(0.2)


@pytest.fixture(scope='module')
def slurm(hosts, tmp_path_factory):
    """munge's key and socket are seen by all hosts; the controller is on node0, the nodes are the other ones."""
    top = tmp_path_factory.mktemp('slurm')
    (top / 'state').mkdir()
    (top / 'key').write_bytes(os.urandom(128))
    (top / 'key').chmod(0o600)
    (top / 'slurm.conf').write_text(CONF.format(top=top))
    env = {'SLURM_CONF': str(top / 'slurm.conf'), 'PATH': f'{os.environ["PATH"]}:/usr/sbin'}

    def do(name, *words, timeout=60 * SCALE):
        return hosts.command(name, *words, timeout=timeout, env=env)

    daemons = [hosts.background(name, *words, env=env) for name, *words in (
        ('node0', 'munged', '--foreground', '--force', f'--key-file={top}/key', f'--socket={top}/munge.sock',
         f'--pid-file={top}/munged.pid', f'--log-file={top}/munged.log', f'--seed-file={top}/seed'),
        ('node0', 'slurmctld', '-D'), ('node1', 'slurmd', '-D'), ('node2', 'slurmd', '-D'), ('node3', 'slurmd', '-D'))]
    try:
        await_nodes(top, do)
        yield SimpleNamespace(top=top, do=do)
    finally:
        for daemon in reversed(daemons):
            daemon.discard()


def scenario(top, hosts):
    path = top / 'ring.json'
    path.write_text(json.dumps({'iterations': 200, 'warmupTime': 0, 'testNodes': [{'hostName': hosts}], 'tests': [
        {'trafficPattern': 'ALL_TO_ALL', 'connectionType': 'TCP'}]}))
    return path


def check_document(path, names):
    document = check(path.read_text())
    assert document['status'] == 'ok' and [r['machineName'] for r in document['ranks']] == names, document
    pairs = {(c['requestorEndpoint'], c['responderEndpoint']) for c in document['connections']}
    assert len(pairs) == len(document['connections']) == len(names) * (len(names) - 1)
    assert all(c['loss']['sent'] == c['loss']['received'] > 0 for c in document['connections'])


def test_allocations(slurm, hosts):
    """No ssh takes part: --ssh is a command that fails. salloc runs it beside the nodes, sbatch on the first."""
    words = [hosts.fabperf, '-f', scenario(slurm.top, 'node[1-3]'), '--ssh', 'false']
    result = slurm.do('node0', 'salloc', '-N3', *words, '-j', slurm.top / 'salloc.json')
    assert result.rc == 0, result
    check_document(slurm.top / 'salloc.json', ['node1', 'node2', 'node3'])
    script = slurm.top / 'job.sh'
    script.write_text(f'#!/bin/sh\nexec {" ".join(map(str, words))} -j {slurm.top}/sbatch.json\n')
    result = slurm.do('node0', 'sbatch', '-W', '-N3', '-o', slurm.top / 'sbatch.out', script)
    assert result.rc == 0, (result, (slurm.top / 'sbatch.out').read_text())
    check_document(slurm.top / 'sbatch.json', ['node1', 'node2', 'node3'])
    result = slurm.do('node0', 'salloc', '-N2', *words)  # node3 is not ours
    assert result.rc == 1 and 'fabperf: mpirun ended' in result.stderr and 'allocation' in result.stderr, result
    assert not hosts.leftovers()
