"""The rate of the link is a fact where messages travel over it, and a figure above it is marked."""
import pytest

from double.runs import options

APART = dict(client='gids=v2/10.0.0.1', server='gids=v2/10.0.0.2')


@pytest.mark.parametrize('faults, rate', [(APART, 103.125), ({}, None)])
def test_link_rate_is_the_ports(double, faults, rate):
    """Four lanes of 25.78125 Gb/s; none where both ends are the same port."""
    connection = double(options('RC', 'write', 'bw', '--print_json_results'), **faults).connection
    assert connection['requestor']['facts'].get('linkGbSec') == rate
    assert connection['responder']['facts'].get('linkGbSec') == rate
