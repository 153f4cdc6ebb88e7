"""Enhanced connection establishment: the ends agree in five steps on what both devices take, or say which refuses."""
import pytest

from double.runs import check_bandwidth, options

WORDS = options('RC', 'write', 'bw', '-q', '2', '--use_ece', '--print_json_results')


def text(value):
    return f'vendor 0xfab, options {value:#x}'


@pytest.mark.parametrize('client, server, offered, agreed', [
    ('ece=accept', 'ece=accept', 0xff, 0xff),
    ('ece=accept:5', 'ece=accept', 5, 5),  # the server's own options are not asked for
    ('ece=accept', 'ece=reduce:12', 0xff, 12),
    ('ece=accept:5', 'ece=reduce:12', 5, 4),
    ('ece=accept:5', 'ece=reduce:2', 5, 0),
])
def test_agreed(double, client, server, offered, agreed):
    outcome = double(WORDS, client=client, server=server)
    check_bandwidth(outcome, 'write')
    for side in ('requestor', 'responder'):
        facts = outcome.connection[side]['facts']
        assert facts['eceOffered'] == text(offered)
        assert facts['eceAgreed'] == facts['eceUsed'] == text(agreed)


@pytest.mark.parametrize('verb, metric', [('send', 'lat'), ('read', 'bw')])
def test_with_workers(double, verb, metric):
    words = options('RC', verb, metric, '--use_ece', '-N', '2', '--print_json_results')
    assert double(words, both='ece=accept').rc == 0


@pytest.mark.parametrize('client, server, parts', [
    ('', 'ece=accept', ('double0', 'ibv_query_ece', 'leave out --use_ece')),
    ('ece=accept', '', ('localhost', 'double0', 'ibv_query_ece', 'leave out --use_ece')),
    ('ece=accept', 'ece=refuse', ('localhost', 'double0', 'options 0xff', 'ibv_set_ece', 'Invalid argument')),
    ('ece=refuse', 'ece=accept', ('double0', 'options 0xff', 'ibv_set_ece', 'Invalid argument')),
    ('ece=reduce:3', 'ece=accept', ('answered', '0xff', '0x3', '--use_ece')),
])
def test_refused(refused, client, server, parts):
    refused(options('RC', 'write', 'bw', '-q', '2', '--use_ece'), *parts, client=client, server=server)


@pytest.mark.parametrize('side', ['client', 'server'])
@pytest.mark.parametrize('nth', [1, 3])
@pytest.mark.parametrize('call', ['ibv_query_ece', 'ibv_set_ece'])
def test_a_call_fails(refused, call, nth, side):
    words = options('RC', 'write', 'bw', '-q', '4', '--use_ece')
    refused(words, call, 'Input/output error', both='ece=accept', **{side: f'fail={call}:EIO:{nth}'})


def test_without_it_nothing_is_asked(double):
    outcome = double(options('RC', 'write', 'bw', '--print_json_results'), both='ece=accept')
    assert outcome.rc == 0 and not [key for key in outcome.connection['requestor']['facts'] if key.startswith('ece')]
