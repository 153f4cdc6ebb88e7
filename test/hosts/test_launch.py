"""Starting the server on another host by ssh: it is found, used and gone afterwards; each failure is one sentence."""
import os
import re
import shlex
import signal
import time

import pytest

from processes import SCALE

QUICK = ('-r', 'null', '-D', '0.2', '-w', '0')
LONG = ('-r', 'null', '-D', '60', '-w', '0', '-R', '0.2')
NODE1 = '10.99.0.2'


def sentence(result, *parts):
    """The run failed with one line on stderr that has all the parts in it."""
    lines = result.stderr.strip().splitlines()
    assert result.rc == 1 and len(lines) == 1 and lines[0].startswith('fabperf: '), result
    for part in parts:
        assert part in lines[0], result


@pytest.fixture
def client(hosts):
    """client('node1', *options, ssh=...) → Result of a client on node0."""
    def call(host, *options, ssh=None, timeout=40):
        return hosts.run('node0', '-n', host, '--ssh', ssh or hosts.ssh, *(options or QUICK), timeout=timeout)
    return call


@pytest.fixture
def running(hosts):
    """A client on node0 whose test with a server on node1 runs, as a Process."""
    process = hosts.start('node0', '-n', 'node1', '--ssh', hosts.ssh, *LONG)
    process.until(r'Gb/s', 'stderr', timeout=20)
    yield process
    process.discard()
    left = hosts.leftovers()
    assert not left, left


@pytest.fixture
def config(hosts, tmp_path):
    """config(replace, by, more) → --ssh with the hosts' configuration changed, and lines put before it."""
    def call(replace='', by='', more=''):
        path = tmp_path / 'ssh_config'
        path.write_text(more + (hosts.top / 'ssh_config').read_text().replace(replace, by))
        return f'ssh -F "{path}"'
    return call


def servers(hosts):
    """Processes of launched servers, parent first."""
    return sorted(pid for pid, words in hosts.programs().items() if '--launched' in words)


# --- it works ---

@pytest.mark.parametrize('host', ['node1', 'node1-6', NODE1, 'node2'])
def test_a_server_is_started_used_and_gone(client, host):
    result = client(host)
    assert result.rc == 0 and result.stderr == '', result


def test_traffic_between_hosts(client):
    assert client('node1', '-c', 'TCP', '-D', '0.3', '-w', '0.1').rc == 0


def test_an_alias_that_only_ssh_knows(client, config):
    """Its address is where ssh arrived, as the started server tells."""
    assert client('faraway', ssh=config(more=f'Host faraway\n\tHostName {NODE1}\n')).rc == 0


def test_an_alias_that_means_another_host(client, config):
    """The name resolves to node2, where nothing was started; ssh leads to node1."""
    result = client('node2', '--print_json_results', *QUICK, ssh=config(more=f'Host node2\n\tHostName {NODE1}\n'))
    assert result.rc == 0 and '"node1"' in result.stdout, result


def test_a_listening_server_is_used(hosts, client):
    server = hosts.start('node1')
    server.until('waiting for clients', 'stderr')
    with_broken_ssh = hosts.start('node0', '-n', 'node1', '--ssh', 'false', *QUICK)
    assert with_broken_ssh.wait(20).rc == 0
    server.send(signal.SIGTERM)
    assert server.wait(10).rc == 0


def test_the_known_clock_offset_is_within_its_bound(client):
    """node1's clock is 1000 s ahead of node0's."""
    text = client('node1', '-c', 'TCP', '-D', '0.3', '-w', '0', '--print_json_results').stdout
    offsets, bounds = (
        {int(number) for number in re.findall(rf'"{key}": (-?\d+)', text)} for key in ('clockOffsetNs', 'clockErrorNs')
    )
    assert len(offsets) == 2 and 0 in offsets, text
    assert 0 < max(bounds) < 1e8
    assert abs(max(offsets) - 1e12) <= max(bounds)


# --- it does not work ---

def test_a_refused_key(client, config, tmp_path, hosts):
    key = tmp_path / 'key'
    assert hosts.command('node0', 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key).rc == 0
    result = client('node1', ssh=config(f'{hosts.top}/user_key', str(key)))
    sentence(result, "host 'node1' accepts none of your ssh keys", 'ssh-copy-id node1')


def test_an_unknown_host_key(client, config, hosts):
    result = client('node1', ssh=config(f'{hosts.top}/known_hosts', '/dev/null'))
    sentence(result, "the ssh host key of 'node1' is not known", "'ssh node1'")


def test_a_changed_host_key(client, config, tmp_path, hosts):
    other = (hosts.top / 'user_key.pub').read_text().split()
    (tmp_path / 'known').write_text(f'node1 {other[0]} {other[1]}\n')
    result = client('node1', ssh=config(f'{hosts.top}/known_hosts', str(tmp_path / 'known')))
    sentence(result, "the ssh host key of 'node1' has changed", 'ssh-keygen -R node1')


def test_an_unknown_name(client):
    sentence(client('node9'), "cannot resolve host 'node9'")


def test_no_sshd(client, hosts):
    sentence(client('node1', ssh=f'{hosts.ssh} -p 77'), "nothing listens for ssh on host 'node1'")


def test_no_host_at_an_address(client):
    sentence(client('10.99.0.77', *QUICK, '--connect_timeout', '15'), "10.99.0.77")


def test_no_route(client):
    sentence(client('192.0.2.1', *QUICK, '--connect_timeout', '6'), '192.0.2.1')


def test_a_user_who_may_not_log_in(client):
    result = client('node1', *QUICK, '--server_username', 'nobody')
    sentence(result, "'node1'")


def test_a_missing_executable(client):
    result = client('node1', *QUICK, '--server_exe', '/no/such/fabperf')
    sentence(result, "host 'node1' has no executable '/no/such/fabperf' (--server_exe)")


def test_an_executable_with_a_difficult_name(client, hosts, tmp_path):
    path = tmp_path / "it's $HOME; \"here\""
    path.symlink_to(hosts.fabperf)
    assert client('node1', *QUICK, '--server_exe', path).rc == 0


def test_fabperf_is_not_installed_there(hosts, tmp_path):
    """A client whose own file is gone finds no such path, and none in PATH, on the other host."""
    copy = shlex.quote(str(tmp_path / 'copy'))
    words = shlex.join(('-n', 'node1', '--ssh', hosts.ssh, *QUICK))
    begin = f'cp {shlex.quote(str(hosts.fabperf))} {copy}; exec 3<{copy}; rm {copy}; exec /proc/self/fd/3 {words}'
    sentence(hosts.command('node0', 'sh', '-c', begin), "fabperf is not installed on host 'node1'", '--server_exe')


@pytest.mark.parametrize('body, words', [
    ('echo fabperf-ready 9 9.9.9 1234 -; cat >&2', ("fabperf 9.9.9 on host 'node1' speaks control protocol 9",)),
    ('echo no such option >&2; exit 3', ('exit status 3', 'no such option')),
    ('echo Welcome; echo fabperf-ready 2 0.1.0 x -; cat >&2', ('malformed ready line',)),
    ('echo fabperf-ready 2 0.1.0 9 -; cat >&2', ('its port 9 cannot be reached',)),
])
def test_what_was_started_is_no_server_of_ours(client, tmp_path, body, words):
    path = tmp_path / 'server'
    path.write_text(f'#!/bin/sh\n{body}\n')
    path.chmod(0o755)
    sentence(client('node1', *QUICK, '--server_exe', path), *words)


def test_it_is_not_ready_in_time(client, tmp_path, hosts):
    path = tmp_path / 'server'
    path.write_text('#!/bin/sh\necho my own trouble >&2; exec cat\n')
    path.chmod(0o755)
    result = client('node1', *QUICK, '--server_exe', path, '--connect_timeout', '6')
    sentence(result, "'node1' was not ready within 6 s", 'my own trouble')
    assert 'cat' not in hosts.command('node1', 'ps', '-e', '-o', 'comm').stdout.split()


@pytest.mark.parametrize('ssh, words', [
    ('no-such-ssh', "cannot run 'no-such-ssh'"),
    ("ssh 'half a quote", 'a quote is not closed'),
    ('false', 'exit status 1'),
])
def test_an_ssh_that_is_none(client, ssh, words):
    sentence(client('node1', ssh=ssh), words)


# --- it ends ---

def test_nothing_is_left_of_a_killed_client(hosts, running):
    assert len(servers(hosts)) == 2
    running.send(signal.SIGKILL)
    assert not hosts.leftovers()


def test_an_interrupted_client_ends_its_server(hosts, running):
    running.send(signal.SIGINT)
    assert running.wait(10).rc == 130
    assert not hosts.leftovers()


@pytest.mark.parametrize('which, number', [(0, signal.SIGKILL), (1, signal.SIGKILL), (1, signal.SIGSTOP)])
def test_a_lost_server_is_named(hosts, running, which, number):
    """The listening process or the one that serves."""
    begin = time.monotonic()
    os.kill(servers(hosts)[which], number)
    result = running.wait(20)
    # What is stopped cannot end when its stdin closes: then it is killed, 5 s later.
    assert time.monotonic() - begin < (12 if number == signal.SIGSTOP else 6) * SCALE
    assert result.rc == 1 and "'node1'" in result.stderr.splitlines()[-1], result


def test_a_killed_ssh_ends_the_server(hosts, running):
    pid = running.pid
    [ssh] = open(f'/proc/{pid}/task/{pid}/children', encoding='ascii').read().split()
    os.kill(int(ssh), signal.SIGKILL)
    result = running.wait(15)
    assert result.rc != 0 and 'node1' in result.stderr + result.stdout, result


def test_a_cut_wire_is_named(hosts, running):
    begin = time.monotonic()
    assert hosts.command('node1', 'ip', 'route', 'add', 'blackhole', '10.99.0.1/32').rc == 0
    try:
        result = running.wait(30)
        assert time.monotonic() - begin < 12 * SCALE
    finally:
        hosts.command('node1', 'ip', 'route', 'del', 'blackhole', '10.99.0.1/32')
    assert result.rc == 1 and "host 'node1' has been silent for" in result.stderr, result
