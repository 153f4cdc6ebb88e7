"""Counters of interfaces and of the kernel, before the traffic and after it."""
import pytest

SHORT = ('-D', '0.1', '-w', '0')


def of(side, source, name):
    """The one counter of a side by its source and name."""
    found = [counter for counter in side['counters'] if (counter['source'], counter['name']) == (source, name)]
    assert len(found) == 1, (source, name, side['counters'])
    return found[0]


def test_what_moved_is_counted(measured):
    """The loopback interface carries at least what was received, and the kernel tells of what it had no room for."""
    results = measured('-c', 'UDP', '-s', '1400', '--gso', 'off', '--sock_buf', '4K', *SHORT)
    loss = results['loss']
    for side in ('requestor', 'responder'):
        packets = of(results[side], 'lo', 'rx_packets')
        assert packets['difference'] >= loss['received']
        assert (packets['unit'], packets['kind'], packets['wrapped']) == ('packets', 'traffic', False)
        assert packets['after'] - packets['before'] == packets['difference']
        assert of(results[side], 'lo', 'rx_bytes')['difference'] >= 1400 * loss['received']
    full = of(results['responder'], 'kernel Udp', 'RcvbufErrors')
    assert full['difference'] >= loss['lost'] and full['kind'] == 'receiverLoss'
    said = [remark for remark in results['remarks'] if remark['id'] == 'countersReceiverLoss']
    assert len(said) == (full['difference'] > 0)
    assert not said or f'RcvbufErrors {full["difference"]} packets (kernel Udp of the server)' in said[0]['text']


@pytest.mark.parametrize('options', [('-c', 'TCP', '--counters', 'off'), ('-r', 'null')])
def test_not_read_is_not_zero(measured, options):
    results = measured(*options, *SHORT)
    assert results['requestor']['counters'] is None and results['responder']['counters'] is None


def test_refused_where_there_are_none(run):
    result = run('-n', 'localhost', '-r', 'null', '--counters', 'on')
    assert result.rc == 1 and '--counters has no effect with -r null' in result.stderr, result
