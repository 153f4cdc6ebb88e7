"""Data validation finds what the device changed, to the byte, and nothing else; what it cannot check is refused."""
import pytest

from e2e.result_schema import check


def words(*more):
    size = () if '-s' in more else ('-s', '64')
    warmup = () if '-w' in more or '--warmup_iterations' in more else ('-w', '0')
    return ['-d', 'double0', '--validate', '--print_json_results', *size, *warmup, *more]


def found(outcome):
    return check(outcome.json)['connections'][0]['results']['validationResults']


def check_clean(outcome, messages):
    assert (outcome.rc, outcome.stderr) == (0, ''), outcome
    assert found(outcome) == {'validatedMessages': messages, 'invalidDataSampleCount': 0, 'invalidBytes': 0,
                              'invalidPositions': []}
    assert not outcome.alive()


@pytest.mark.parametrize('more, messages', [
    (('-i', '3000'), 3000), (('-i', '1000', '-q', '3', '-N', '2'), 6000), (('-i', '300', '-v', 'write_imm'), 300),
    (('-i', '500', '-t', '7', '--rx_depth', '7', '--cq_mod', '3'), 500),
    (('-i', '500', '-v', 'write_imm', '-t', '16', '--rx_depth', '16', '-q', '2'), 1000),
    (('-i', '300', '--rate', '100k'), 300), (('-i', '1000', '-t', '1000'), 1000), (('-i', '300', '-c', 'XRC'), 300),
    (('-i', '500', '-s', '1'), 500), (('-i', '100', '-s', '65537'), 100), (('-i', '200', '-t', '1', '-s', '4096'), 200),
    (('-i', '500', '--wr_api', 'off', '--inline_size', '0'), 500), (('-i', '200', '--events', 'on'), 200),
])
def test_clean_messages_are_clean(double, more, messages):
    check_clean(double(words(*more)), messages)


def test_a_million_clean_messages(double):
    check_clean(double(words('-i', '1000000', '-s', '8'), timeout=100), 1000000)


def test_by_time_all_that_arrived_was_compared(double):
    outcome = double(words('-D', '0.3'))
    check_clean(outcome, outcome.server['received'])
    assert 'validated' in [remark['id'] for remark in outcome.connection['remarks']]


@pytest.mark.parametrize('transport', ['RC', 'UC', 'UD'])
def test_planted_corruptions_are_found_to_the_byte(double, transport):
    """Messages are counted from 1 there and from 0 here."""
    planted = [(1, 0), (2, 63), (77, 5), (78, 31), (400, 8), (900, 62)]
    outcome = double(words('-c', transport, '-i', '900', '--rx_depth', '1024'),
                     client=','.join(f'flip={n}:{byte}' for n, byte in planted))
    result = found(outcome)
    assert outcome.rc == 1 and outcome.json['status'] == 'failed'
    assert 'data validation: 6 of 900 messages did not arrive as they were sent' in outcome.stderr
    assert (result['validatedMessages'], result['invalidDataSampleCount'], result['invalidBytes']) == (900, 6, 6)
    assert [[*row[:4], row[6]] for row in result['invalidPositions']] == [[0, 0, n - 1, byte, 1] for n, byte in planted]
    assert all(bin(row[4] ^ row[5]).count('1') == 1 for row in result['invalidPositions'])


def test_each_queue_pair_numbers_its_own_messages(double):
    """The client's messages are numbered over both; the first ten wrong ones are printed."""
    faults = ','.join(f'flip={n}:{n % 8}' for n in range(1, 41))
    outcome = double(words('-i', '100', '-q', '2', '-t', '4'), client=faults)
    rows = found(outcome)['invalidPositions']
    assert found(outcome)['invalidDataSampleCount'] == 40 == len(rows)
    for qp in (0, 1):
        numbers = [row[2] for row in rows if row[1] == qp]
        assert numbers == list(range(len(numbers))) and len(numbers) >= 8
    assert [row[5] ^ row[4] for row in rows].count(0) == 0


def test_the_first_ten_are_printed(double):
    faults = ','.join(f'flip={n}:{n % 8}' for n in range(1, 41))
    outcome = double([word for word in words('-i', '100') if word != '--print_json_results'], client=faults)
    lines = [line.strip() for line in outcome.stdout.splitlines() if 'QP 0 message' in line]
    assert outcome.rc == 1 and len(lines) == 10 and '30 more are in the JSON document' in outcome.stdout
    assert lines[0].startswith('worker 0 QP 0 message 0: byte 1 is 0x')
    assert lines[9].startswith('worker 0 QP 0 message 9: byte 2 is 0x') and lines[9].endswith('(1 wrong)')


@pytest.mark.parametrize('transport', ['UC', 'UD'])
def test_losses_and_repetitions_are_no_corruption(double, transport):
    """They are counted as what they are, from the numbers in the payload."""
    faults = 'drop=3,drop=50,drop=51,dup=70,dup=300,delay=90:2000,flip=200:30'
    outcome = double(words('-c', transport, '-i', '600', '-t', '16', '--rx_depth', '1024'), client=faults)
    result, loss = found(outcome), outcome.connection['loss']
    assert result['validatedMessages'] == 600 - 3 + 2 and result['invalidDataSampleCount'] == 1
    assert result['invalidPositions'][0][2:4] == [199, 30]
    assert (loss['sent'], loss['lost'], loss['duplicated'], loss['reordered']) == (600, 3, 2, 1)


@pytest.mark.parametrize('more, parts', [
    (('-v', 'write'), ('-v write', 'send and write_imm only')), (('-v', 'read'), ('-v read',)),
    (('-m', 'lat'), ('-m lat', 'every sample')), (('-b',), ('--validate and -b exclude each other',)),
    (('-a',), ('--validate and -a exclude each other',)), (('--post_batch', '3'), ('--validate and --post_batch',)),
    (('-s', '8,64'), ('--validate takes one value of -s',)), (('-q', '1,2'), ('--validate takes one value of -q',)),
    (('-t', '4,8'), ('--validate takes one value of -t',)),
    (('-w', '2'), ('--validate does not go with -w 2s', 'give -w 0')), (('--warmup_iterations', '5'), ('give -w 0',)),
    (('--end_margin', '1'), ('--end_margin 1s',)), (('-c', 'UC', '-v', 'write_imm'), ('-c UC', 'use -v send')),
    (('-t', '64', '--rx_depth', '32'), ('--rx_depth 32 is less than -t 64', '--validate')),
    (('--working_set', '1M'), ('--working_set',)), (('-c', 'UD', '-s', '7'), ('-s 7', '8 bytes')),
    (('-M', 'nullmr'), ('-M nullmr', 'CPU')), (('--server_mem_type', 'device'), ('--server_mem_type device', 'CPU')),
])
def test_what_cannot_be_compared_is_refused_by_name(refused, more, parts):
    refused([word for word in words(*more) if '-a' not in more or word not in ('-s', '64')], *parts)
