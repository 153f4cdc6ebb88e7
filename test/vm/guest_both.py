"""Soft-RoCE: both directions on the same queue pairs, each with its own exact counts."""
import json

import pytest


@pytest.mark.parametrize('connection, verb, size', [('RC', 'write', 1024), ('RC', 'send', 1024), ('RC', 'atomic_fa', 8),
                                                    ('UD', 'send', 1024)])
def test_both_directions(run, connection, verb, size):
    result = run('-n', 'localhost', '-d', 'rxe0', '-w', '0', '--print_json_results', '-b', '-H', '-c', connection,
                 '-v', verb, '-s', size, '-i', '300', '-q', '2', timeout=120)
    assert (result.rc, result.stderr) == (0, '')
    ways = json.loads(result.stdout)['connections']
    assert [way['requestor']['role'] for way in ways] == ['client', 'server']
    for way in ways:
        assert sum(row['totalSent'] or 0 for row in way['resultsPerProcess']) >= 600
        assert sum(len(row['qpHistogram'] or ()) for row in way['resultsPerProcess']) == 2
        if connection == 'RC':
            assert way['results']['bwResults']['messages'] == 600
        if way['loss']:
            assert way['loss']['sent'] == way['loss']['received'] + way['loss']['lost']
            assert way['loss']['lost'] == 0 or connection != 'RC'
