"""Devices of all shapes: a port that is down, tables without a usable GID, limits, ends that do not match."""
import pytest

from double.runs import options

WRITE = options('RC', 'write', 'bw')
JSON = ('--print_json_results',)


def facts(outcome):
    assert outcome.rc == 0, outcome
    return outcome.connection['requestor']['facts']


@pytest.mark.parametrize('side', ['client', 'server'])
def test_port_down(refused, side):
    refused(WRITE, 'port 1', 'double0', 'not active', **{side: 'port=down'})


def test_no_device(refused):
    refused(WRITE, 'asks for an RDMA device, but this host has none', both='devices=0')


def test_wrong_device(refused):
    refused(['-d', 'double7', *WRITE[2:]], 'double7', both='devices=2')


def test_wrong_port(refused):
    refused([*WRITE, '--ib_port', '2'], 'port 2', 'double0')


@pytest.mark.parametrize('table, index, gid, kind', [
    ('v1/fe80::1+v2/fe80::1+v1/10.0.0.1+v2/10.0.0.1', 3, '10.0.0.1', 'RoCE v2'),
    ('v2/10.0.0.1+v2/fe80::1', 0, '10.0.0.1', 'RoCE v2'),
    ('v1/fe80::1+v2/fe80::1', 1, 'fe80::1', 'RoCE v2'),
    ('v1/fe80::1+v1/10.0.0.1', 1, '10.0.0.1', 'RoCE v1'),
    ('v2/fe80::1+v2/fd00::1', 1, 'fd00::1', 'RoCE v2'),
    ('-+-+v2/10.0.0.1', 2, '10.0.0.1', 'RoCE v2'),
    ('v1/10.0.0.1+v2/fe80::1', 1, 'fe80::1', 'RoCE v2'),
])
def test_gid_choice(double, table, index, gid, kind):
    found = facts(double([*WRITE, *JSON], both=f'gids={table}'))
    assert (found['gidIndex'], found['gid'], found['gidType']) == (index, gid, kind)


def test_own_address_wins(double):
    """Of two IPv4 entries, that of the control connection."""
    assert facts(double([*WRITE, *JSON], both='gids=v2/10.0.0.1+v2/127.0.0.1'))['gid'] == '127.0.0.1'


def test_asked_gid(double):
    assert facts(double([*WRITE, '--gid_index', '1', *JSON]))['gid'] == 'fe80::ad'


def test_no_gid(refused):
    refused(WRITE, 'double0', 'GID', both='gids=-')


def test_empty_gid(refused):
    refused([*WRITE, '--gid_index', '5'], '--gid_index 5', '10.77.0.1')


@pytest.mark.parametrize('faults, parts', [
    (dict(client='gids=v1/10.0.0.1', server='gids=v2/10.0.0.1'), ('RoCE v1', 'RoCE v2', '--gid_index')),
    (dict(client='gids=v2/10.0.0.1', server='gids=v2/fe80::1'), ('10.0.0.1', 'fe80::1', '--gid_index')),
    (dict(client='link=ib'), ('InfiniBand', 'Ethernet')),
    (dict(server='link=ib'), ('InfiniBand', 'Ethernet')),
])
def test_ends_do_not_match(refused, faults, parts):
    refused(WRITE, *parts, **faults)


@pytest.mark.parametrize('client, server', [(1024, 4096), (4096, 1024), (512, 512)])
def test_mtu(double, client, server):
    outcome = double([*WRITE, *JSON], client=f'mtu={client}', server=f'mtu={server}')
    assert facts(outcome)['mtu'] == min(client, server)
    assert outcome.connection['responder']['facts']['mtu'] == min(client, server)


@pytest.mark.parametrize('side', ['client', 'server'])
def test_asked_mtu_too_large(refused, side):
    refused([*WRITE, '--mtu', '4096'], '--mtu 4096', '1024', **{side: 'mtu=1024'})


@pytest.mark.parametrize('side', ['client', 'server'])
def test_ud_message_beyond_mtu(refused, side):
    words = ['-d', 'double0', '-c', 'UD', '-v', 'send', '-s', '2048', '-i', '100', '-w', '0']
    refused(words, '--msg_size 2048', '1024', **{side: 'mtu=1024'})


@pytest.mark.parametrize('side, shape, words, parts', [
    ('client', 'max_qp=4', ('-q', '5'), ('--qps 5', 'double0', '4')),
    ('server', 'max_qp=4', ('-q', '5'), ('--qps 5', 'double0', '4')),
    ('client', 'max_qp_wr=100', ('--tx_depth', '101'), ('--tx_depth 101', 'double0', '100')),
    ('client', 'max_cqe=100', ('--tx_depth', '100', '-q', '2'), ('double0', '100', '--tx_depth')),
    ('client', 'inline=32', ('--inline_size', '64'), ('--inline_size 64', 'double0', '32')),
    ('client', 'inline=0', ('--inline_size', '64'), ('--inline_size 64', 'double0', '0')),
    ('client', 'memlock', (), ('double0', 'register')),
    ('server', 'memlock', (), ('double0', 'register')),
    ('client', 'no_wr_api', ('--wr_api', 'on'), ('double0', '--wr_api')),
    ('server', 'no_wr_api', ('--wr_api', 'on'), ('double0', '--wr_api')),
])
def test_limits(refused, side, shape, words, parts):
    refused([*WRITE, *words], *parts, **{side: shape})


@pytest.mark.parametrize('side', ['client', 'server'])
def test_queue_pairs_of_all_workers(refused, side):
    refused([*WRITE, '-N', '2', '-q', '3'], 'queue pair', 'double0', 'allows 5', 'ibv_create_qp', **{side: 'max_qp=5'})


@pytest.mark.parametrize('side', ['client', 'server'])
def test_receive_limit(refused, side):
    words = options('RC', 'send', 'lat', '--rx_depth', '101')
    refused(words, '--rx_depth 101', 'double0', '100', **{side: 'max_qp_wr=100'})


@pytest.mark.parametrize('side', ['client', 'server'])
def test_no_atomics(refused, side):
    refused(options('RC', 'atomic_fa', 'bw'), 'double0', 'atomic', '--verb', **{side: 'atomic=none'})


@pytest.mark.parametrize('side', ['client', 'server'])
def test_reads_outstanding(refused, double, side):
    words = options('RC', 'read', 'bw')
    assert facts(double([*words, *JSON], **{side: 'max_rd_atomic=3'}))['maxRdAtomic'] == 3
    refused([*words, '--max_rd_atomic', '4'], '--max_rd_atomic 4', '3', **{side: 'max_rd_atomic=3'})


@pytest.mark.parametrize('inline, size, used', [(0, 64, 0), (32, 64, 0), (256, 64, 64)])
def test_inline(double, inline, size, used):
    """Without being asked, messages travel inline where they fit in whole."""
    words = ['-d', 'double0', '-v', 'write', '-m', 'lat', '-s', str(size), '-i', '100', '-w', '0', *JSON]
    assert facts(double(words, both=f'inline={inline}'))['inlineSize'] == used


def test_no_wr_api(double):
    assert facts(double([*WRITE, *JSON], both='no_wr_api'))['postApi'] == 'ibv_post_send'


@pytest.mark.parametrize('connection', ['RC', 'XRC'])
def test_knobs_are_read_back(double, connection):
    knobs = {'qp_timeout': (11, 'qpTimeout'), 'retry_count': (3, 'retryCount'), 'rnr_retry': (2, 'rnrRetry'),
             'min_rnr_timer': (5, 'minRnrTimer'), 'service_level': (3, 'serviceLevel'),
             'traffic_class': (104, 'trafficClass'), 'flow_label': (77, 'flowLabel'), 'hop_limit': (9, 'hopLimit'),
             'mtu': (512, 'mtu'), 'start_psn': (0xffffff, 'psn')}
    words = [word for knob, (value, _) in knobs.items() for word in (f'--{knob}', str(value))]
    found = facts(double([*options(connection, 'write', 'bw'), *words, *JSON]))
    assert {key: found[key] for _, key in knobs.values()} == {key: value for value, key in knobs.values()}


@pytest.mark.parametrize('connection, verb', [('RC', 'write'), ('UC', 'send'), ('UD', 'send')])
def test_a_run_is_repeated_by_its_first_psn(double, connection, verb):
    """It is drawn by lot, the same for all queue pairs of both sides, told, and taken when it is asked for."""
    words = options(connection, verb, 'bw', '-q', '3', *JSON)

    def numbers(outcome):
        return [outcome.connection[side]['facts']['psn'] for side in ('requestor', 'responder')]
    drawn = [numbers(double(words)) for _ in range(2)]
    assert drawn[0] != drawn[1] and all(mine == theirs for mine, theirs in drawn)
    assert numbers(double([*words, '--start_psn', hex(drawn[0][0])])) == drawn[0]
