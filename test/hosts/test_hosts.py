"""The hosts themselves: names, ssh, clocks and the narrow wire are what the other tests take them for."""
import signal
import subprocess
import time

CLOCK = "/usr/bin/python3 -c 'import time; print(time.clock_gettime(time.CLOCK_MONOTONIC))'"


def test_names_and_ssh(hosts):
    assert hosts.command('node0', 'hostname').stdout == 'node0\n'
    for name in ('node1', 'node2', 'node1-6'):
        ran = hosts.command('node0', *hosts.ssh.split(), name, 'hostname')
        assert (ran.rc, ran.stdout, ran.stderr) == (0, f'{name.removesuffix("-6")}\n', '')


def test_clock_offsets_are_known(hosts):
    here = float(subprocess.run(CLOCK, shell=True, capture_output=True, check=True).stdout)
    for number in range(3):
        there = float(hosts.command('node0', *hosts.ssh.split(), f'node{number}', CLOCK).stdout)
        assert 0 < there - here - 1000 * number < 30


def test_unknown_host_is_refused(hosts):
    ran = hosts.command('node0', *hosts.ssh.split(), 'node9', 'true')
    assert ran.rc == 255 and 'node9' in ran.stderr


def test_narrow_wire_has_its_rate(hosts):
    hosts.narrow('node2', '80mbit', 100000)
    send = "exec 3<>/dev/tcp/node2/22; read -r banner <&3; echo $banner"
    assert hosts.command('node0', 'bash', '-c', send).stdout.startswith('SSH-2.0')
    begin = time.monotonic()
    ran = hosts.command('node0', 'sh', '-c', f'head -c 5000000 /dev/zero | {hosts.ssh} node2 "wc -c"')
    seconds = time.monotonic() - begin
    hosts.narrow('node2', '10gbit', 10000000)
    assert ran.stdout.strip() == '5000000'
    assert seconds > 5000000 * 8 / 80e6 * 0.9  # 0.5 s at 80 Mb/s


def test_everything_ends_with_its_owner(tmp_path, hosts):
    top = tmp_path / 'other'
    tool = hosts.server.args[1]
    words = ['/usr/bin/python3', tool, 'serve', top, '1']
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout.readline() == b'ready\n'
    config = str(top / 'sshd_config').encode()

    def daemons():
        ran = subprocess.run(['ps', '-e', '-o', 'args'], capture_output=True, check=True)
        return [line for line in ran.stdout.splitlines() if config in line]
    assert len(daemons()) == 2
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdin.close()
    deadline = time.monotonic() + 10
    while daemons() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert daemons() == []
