"""Two emulated machines joined by a wire: a scenario over RDMA verbs between them, by ssh and Open MPI."""
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from e2e.result_schema import check

HERE = Path(__file__).resolve().parent
LIMIT_S = 300
pytestmark = pytest.mark.skipif(not shutil.which('mpirun') or not Path('/usr/sbin/sshd').exists(),
                                reason='openmpi-bin or openssh-server is not installed')


def boot(number, role, top, command=''):
    words = [HERE / 'vmrun', '-c', '1', '-m', '1G', '-t', str(LIMIT_S), '-o', top, '--wire', f'{role}:{top}/wire',
             f'bash test/vm/node.sh {number} {top} {shlex.quote(command)}']
    return subprocess.Popen(words, cwd=HERE.parent.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def test_two_machines(fabperf, tmp_path):
    """Both directions at once, sends by count: each end's count is the other's."""
    for key in ('host', 'user'):
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', tmp_path / key], check=True)
    command = (f'{fabperf} --traffic_pattern a2a -n node1,node2 -d rxe0 -v send -s 4K -t 16 -i 200 -w 0 '
               f'--connect_timeout 60 --ssh "$SSH" -j {tmp_path}/result.json')
    machines = [boot(1, 'listen', tmp_path, command)]
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / 'wire').exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        machines.append(boot(2, 'connect', tmp_path))
        out, _ = machines[0].communicate()
        assert machines[0].returncode == 0, out
        out, _ = machines[1].communicate()
        assert machines[1].returncode == 0, out
    finally:
        for machine in machines:
            machine.terminate()
            machine.wait()
    document = check((tmp_path / 'result.json').read_text())
    assert [rank['machineName'] for rank in document['ranks']] == ['node1', 'node2']
    there, back = document['connections']
    for one, other in ((there, back), (back, there)):
        assert one['requestorEndpoint'] == other['responderEndpoint'] and 'rxe0' in one['requestorEndpoint']
        assert one['loss']['sent'] == one['loss']['received'] == 200, one
