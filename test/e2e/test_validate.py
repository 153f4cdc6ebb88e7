"""Data validation over sockets and libfabric: planted corruptions are found to the byte, and nothing else is."""
import pytest

from e2e.result_schema import check

pytestmark = pytest.mark.waits


def words(*more):
    return ('-v', 'send', '--validate', '-w', '0', *(() if '-s' in more else ('-s', '1000')), *more)


def found(results):
    return results['results']['validationResults']


def check_clean(results):
    """What arrived was compared, all of it, and is right."""
    arrived = sum(row['totalReceived'] or 0 for row in results['resultsPerProcess'] if row['side'] == 'responder')
    again = (results['loss'] or {}).get('duplicated') or 0
    assert found(results) == {'validatedMessages': arrived + again, 'invalidDataSampleCount': 0, 'invalidBytes': 0,
                              'invalidPositions': []}
    return arrived


@pytest.mark.parametrize('more', [
    ('-c', 'TCP', '-q', '3', '-N', '2', '--seed', '7'), ('-c', 'TCP', '-s', '1'),
    ('-c', 'TCP', '-s', '300001', '-q', '2'),
    ('-c', 'TCP', '--zerocopy', 'on', '-s', '100000'), ('-c', 'TCP', '--events', 'off', '-q', '9'),
    ('-c', 'TCP', '--rate', '5000pps'), ('-c', 'TCP', '--sock_buf', '4K', '-s', '9001'),
    ('-r', 'ofi', '-d', 'tcp', '-q', '2', '-s', '70001'), ('-r', 'ofi', '-d', 'tcp', '-s', '8', '-N', '2'),
    ('-r', 'ofi', '-d', 'tcp', '-c', 'MSG', '-q', '2'), ('-r', 'ofi', '-d', 'tcp', '-t', '1', '--rx_depth', '1'),
    ('-r', 'ofi', '-d', 'shm', '-q', '2', '-s', '65536'), ('-r', 'ofi', '-d', 'shm', '--rate', '5000pps'),
])
def test_clean_messages_are_clean(measure, more):
    document = measure(*words(*more), '-i', '300')
    flows = [int(more[more.index(word) + 1]) if word in more else 1 for word in ('-q', '-N')]
    assert check_clean(document['connections'][0]) == 300 * flows[0] * flows[1]


@pytest.mark.parametrize('more', [('-c', 'UDP', '-q', '2', '-N', '2'), ('-c', 'UDP', '-s', '8', '--gso', 'off'),
                                  ('-r', 'ofi', '-c', 'DGRAM', '-q', '2'), ('-c', 'UDP', '-s', '65507')])
def test_what_gets_lost_is_lost_and_the_rest_is_right(measure, more):
    results = measure(*words(*more), '-D', '0.2')['connections'][0]
    loss = results['loss']
    assert check_clean(results) == loss['received'] == loss['sent'] - loss['lost']


@pytest.mark.plain
def test_a_million_clean_messages(measure):
    document = measure(*words('-c', 'TCP', '-s', '64', '-N', '2', '-q', '2'), '-i', '250000', timeout=120)
    assert check_clean(document['connections'][0]) == 1000000


@pytest.fixture
def spoiled(serve, run, fabperf):
    """spoiled('flip=3:0', *options) → run and connection of a client whose messages are spoiled on their way."""
    library = fabperf.parent / 'test' / 'e2e' / 'spoil' / 'libfabperf-spoil.so'

    def call(faults, *more):
        _, port = serve('--once')
        result = run('-n', 'localhost', '--port', port, '--launch_server', 'off', '--print_json_results', *words(*more),
                     env={'LD_PRELOAD': str(library), 'FABPERF_SPOIL': f'1000 {faults}'})
        return result, check(result.stdout)['connections'][0]
    return call


@pytest.mark.plain
@pytest.mark.parametrize('more', [('-c', 'TCP'), ('-c', 'UDP', '--rate', '5000pps'), ('-r', 'ofi', '-d', 'tcp'),
                                  ('-r', 'ofi', '-d', 'tcp', '-c', 'MSG')])
def test_planted_corruptions_are_found_to_the_byte(spoiled, more):
    """Messages are counted from 1 there and from 0 here."""
    planted = [(1, 0), (2, 999), (77, 5), (78, 31), (400, 8), (600, 998)]
    result, results = spoiled(','.join(f'flip={n}:{byte}' for n, byte in planted), *more, '-i', '600')
    assert result.rc == 1 and 'validation: 6 of 600 messages did not arrive as they were sent' in result.stderr, result
    rows = found(results)
    assert (rows['validatedMessages'], rows['invalidDataSampleCount'], rows['invalidBytes']) == (600, 6, 6)
    assert [[*row[:4], row[4] ^ row[5], row[6]] for row in rows['invalidPositions']] == \
        [[0, 0, n - 1, byte, 0x10, 1] for n, byte in planted]


@pytest.mark.plain
@pytest.mark.parametrize('more', [('-c', 'TCP'), ('-r', 'ofi', '-d', 'tcp')])
def test_an_old_message_is_wrong(spoiled, more):
    """All of its bytes are those of another message."""
    _, results = spoiled('old=70:66', *more, '-i', '100')
    rows = found(results)
    assert rows['invalidDataSampleCount'] == 1 and rows['invalidPositions'][0][2] == 69
    assert 900 < rows['invalidBytes'] <= 1000


@pytest.mark.plain
def test_losses_and_repetitions_are_no_corruption(spoiled):
    faults = 'drop=3,drop=50,drop=51,dup=70,dup=300,flip=200:30'
    _, results = spoiled(faults, '-c', 'UDP', '--rate', '5000pps', '-i', '600')
    rows, loss = found(results), results['loss']
    assert rows['validatedMessages'] == 600 - 3 + 2 and rows['invalidDataSampleCount'] == 1
    assert rows['invalidPositions'][0][2:4] == [199, 30]
    assert (loss['sent'], loss['lost'], loss['duplicated'], loss['reordered']) == (600, 3, 2, 0)


@pytest.mark.parametrize('more, parts', [
    (('-r', 'null', '-v', 'send'), ('-r null', 'nothing arrives there', 'it takes -r ibv, dv, sock or ofi')),
    (('-c', 'UDP', '-s', '7'), ('-s 7', '8 bytes')), (('-r', 'ofi', '-d', 'tcp', '-s', '7'), ('-s 7', '8 bytes')),
    (('-r', 'ofi', '-d', 'tcp', '-v', 'write_imm'), ('-r ofi', 'use -v send')),
    (('-r', 'ofi', '-d', 'tcp', '-v', 'write'), ('-v write', 'send and write_imm only')),
    (('-c', 'TCP', '-m', 'lat'), ('-m lat', 'every sample')),
    (('-r', 'ofi', '-d', 'tcp', '-v', 'send', '-b'), ('--validate and -b exclude each other',)),
])
def test_what_cannot_be_compared_is_refused_by_name(run, more, parts):
    result = run('-n', 'localhost', '--validate', '-w', '0', *more)
    assert result.rc == 1 and all(part in result.stderr for part in ('--validate', *parts)), result
