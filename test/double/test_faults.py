"""Every call that a run makes fails in turn, on either side: the list is what a clean run really calls."""
import ctypes
import errno
import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from double.runs import FOLDER, calls, options

ALL = os.environ.get('FABPERF_ALL_FAULTS')  # each shape with each call; else each call in the first shape that has it
SHAPES = {
    'wr': options('RC', 'write', 'bw', '--wr_api', 'on'),
    'post': options('RC', 'send', 'bw', '--wr_api', 'off', '-q', '3'),
    'events': options('RC', 'send', 'lat', '--events', 'on'),
    'ud': options('UD', 'send', 'bw', '--wr_api', 'off'),
    'nullmr': options('RC', 'write', 'bw', '-M', 'nullmr'),
    'device': options('RC', 'write', 'bw', '-M', 'device'),
    'ece': options('RC', 'write', 'bw', '--use_ece'),
    'xrc': options('XRC', 'send', 'lat', '--wr_api', 'off'),
    'dc': options('DC', 'send', 'lat', '-q', '2'),
    'tph': options('RC', 'write', 'bw', '--ph', '1'),
    'paced': ['-d', 'double0', '-c', 'UC', '-v', 'write', '-s', '64', '-w', '0', '-q', '2', '--burst_profile',
              'storage', '--burst_size', '4', '--burst_count', '9', '--rate_limit', '1M', '--rate_limit_type', 'hw'],
}
CM_SHAPES = {'cm': options('RC', 'write', 'bw', '--rdma_cm', 'on'),
             'cm_ud': options('UD', 'send', 'lat', '--rdma_cm', 'on', '--events', 'on')}
FEATURES = {  # what a shape needs the device to have
    '--use_ece': 'ece=accept', '--ph': 'tph', 'DC': 'mlx5', '--rate_limit_type': 'pacing=1:1000000'}
EVERY = ('write', 'write_imm', 'read', 'send', 'atomic_fa')
LEGAL = {'RC': EVERY, 'UC': ('write', 'write_imm', 'send'), 'UD': ('send',), 'XRC': EVERY, 'DC': EVERY}
if ALL:
    for transport, verbs in LEGAL.items():
        for verb, metric, api, events in itertools.product(verbs, ('bw', 'lat'), ('on', 'off'), ('on', 'off')):
            if (transport, api) == ('DC', 'off'):
                continue  # refused
            words = options(transport, verb, metric, '--wr_api', api, '--events', events)
            SHAPES[f'{transport} {verb} {metric} wr_api={api} events={events}'] = words
ENDING = set(calls('end', 'end_ud', 'end_events', 'end_device', 'end_tph', 'end_xrc', 'end_cm'))
TOTAL = ('BW:', 'Median latency:')
SIDES = ('client', 'server')
CODES = ('ENOMEM', 'EINVAL', 'EIO', 'EPERM', 'EBUSY', 'EMFILE')
# What a device may answer in the ordinary course of things: the program goes on, another way.
ORDINARY = {
    'ibv_get_device_list': CODES,  # asked for again when one is opened
    'ibv_query_qp': CODES,  # what it does not tell is absent from the report
    'ibv_query_device_ex': CODES,  # for the report; device memory asks, too
    'ibv_query_ece': CODES,  # the last one, for the report
    'ibv_create_qp': ('ENOMEM', 'EINVAL'),  # less inline data is tried, and the other way to post
    'ibv_create_qp_ex': ('ENOMEM', 'EINVAL'),
    'mlx5dv_create_qp': ('ENOMEM', 'EINVAL'),
    'ibv_post_send': ('ENOMEM',),  # the queue is full
    'ibv_wr_complete': ('ENOMEM',),
    'ibv_post_recv': ('ENOMEM',),
    'ibv_post_srq_recv': ('ENOMEM',),
    'ibv_poll_cq': ('EPERM',),  # -1, which is no errno there
}
OF_KIND = ('ibv_modify_qp', 'ibv_destroy_qp', 'ibv_query_qp')  # each transport has queue pairs of its own kinds
WORKERS = 4
CM_WORKERS = 12  # the side that is not told waits for five seconds


def statuses():
    """The statuses of a completion that are errors, as the library names them."""
    return re.findall(r'STATUS\((\w+)\)', (FOLDER / 'config.c').read_text().split('status_name[] = {')[1])[1:]


def status_text(name):
    """A status in words, as libibverbs has them."""
    library = ctypes.CDLL('libibverbs.so.1')
    library.ibv_wc_status_str.restype = ctypes.c_char_p
    numbers = {status: number for number, status in enumerate(['SUCCESS', *IBV_ORDER])}
    return library.ibv_wc_status_str(numbers[name]).decode()


IBV_ORDER = ('LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR BAD_RESP_ERR '
             'LOC_ACCESS_ERR REM_INV_REQ_ERR REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR '
             'LOC_RDD_VIOL_ERR REM_INV_RD_REQ_ERR REM_ABORT_ERR INV_EECN_ERR INV_EEC_STATE_ERR FATAL_ERR '
             'RESP_TIMEOUT_ERR GENERAL_ERR').split()


def positions(count):
    """The first, the second, one amid and the last of so many calls."""
    return sorted({n for n in (1, 2, (count + 1) // 2, count) if 1 <= n <= count})


@pytest.fixture(scope='module')
def seen():
    """Calls that an earlier shape has covered, by side."""
    return set()


def plan(outcome, seen, kind):
    """(side, call, errno's name, n) of the faults that a clean run of this transport suggests."""
    codes = itertools.cycle(CODES)
    for side in SIDES:
        for name, count in getattr(outcome, side)['calls'].items():
            key = (side, name, kind if name in OF_KIND else '')
            if key in seen and not ALL:
                continue
            seen.add(key)
            for n in positions(count):
                code = next(codes)
                while code in ORDINARY.get(name, ()) and ORDINARY[name] != CODES:
                    code = next(codes)
                yield side, name, code, n


def complaint(outcome, call, text):
    """What is wrong with how this run ended, or None."""
    lines = outcome.stderr.splitlines()
    if outcome.rc != 1:
        return f'exit status {outcome.rc}'
    if len(lines) != 1 or not lines[0].startswith('fabperf: '):
        return 'not one sentence'
    if not re.search(rf'\({call}\): {re.escape(text)}; \w', lines[0]):
        return 'no call, errno and cause'
    if call in ENDING and not any(figure in outcome.stdout for figure in TOTAL):
        return 'no figures'
    if call not in ENDING and outcome.alive():
        return f'left: {outcome.alive()}'
    return None


def failing(double, words, fault, both, apart=False):
    """Runs with one fault → a line when it did not end as it should, or None."""
    side, call, code, n = fault
    try:
        outcome = double(words, both=both, timeout=20, apart=apart, **{side: f'fail={call}:{code}:{n}'})
    except AssertionError as trouble:
        return f'{fault}: {trouble}'
    calls_made = getattr(outcome, side).get('calls')
    reached = calls_made is None or calls_made.get(call, 0) >= n
    if outcome.rc == 0 and outcome.stderr == '' and (not reached or code in ORDINARY.get(call, ())):
        return None
    wrong = complaint(outcome, call, os.strerror(getattr(errno, code)))
    return f'{fault}: {wrong}: {outcome.stderr}' if wrong else None


def shape_of(words):
    """What the device must have for this shape, on both sides."""
    return ','.join(feature for word, feature in FEATURES.items() if word in words)


def check(double, seen, words, workers):
    both = shape_of(words)
    clean = double(words, both=both)
    assert clean.rc == 0 and clean.client and clean.server, clean
    faults = list(plan(clean, seen, words[words.index('-c') + 1]))
    with ThreadPoolExecutor(workers) as pool:
        wrong = [line for line in pool.map(lambda fault: failing(double, words, fault, both), faults) if line]
    assert not wrong, f'{len(wrong)} of {len(faults)}:\n' + '\n'.join(wrong)


@pytest.mark.parametrize('shape', SHAPES)
def test_calls(double, seen, shape):
    check(double, seen, SHAPES[shape], WORKERS)


@pytest.mark.parametrize('shape', CM_SHAPES)
def test_rdma_cm(double, seen, shape):
    check(double, seen, CM_SHAPES[shape], CM_WORKERS)


@pytest.mark.asan
def test_nothing_is_kept(double):
    """Each call fails once, on one of the sides in turn: both give back all memory, the server's child included."""
    shapes, seen, faults = {**SHAPES, **CM_SHAPES}, set(), []
    with ThreadPoolExecutor(WORKERS) as pool:
        clean = dict(zip(shapes, pool.map(lambda words: double(words, both=shape_of(words), apart=True),
                                          shapes.values())))
        for (shape, outcome), sides in zip(clean.items(), itertools.cycle((SIDES, SIDES[::-1]))):
            assert outcome.rc == 0, outcome
            once = {fault[1]: fault for side in sides for fault in plan(outcome, set(), '') if fault[0] == side}
            faults += [(shapes[shape], fault) for call, fault in once.items() if call not in seen]
            seen |= set(once)
        runs = [pool.submit(failing, double, words, fault, shape_of(words), True) for words, fault in faults]
        wrong = [run.result() for run in runs if run.result()]
    assert not wrong, f'{len(wrong)} of {len(faults)}:\n' + '\n'.join(wrong)


@pytest.mark.parametrize('call, api', [('ibv_post_send', 'off'), ('ibv_wr_complete', 'on')])
def test_never_room(refused, call, api):
    """A queue that is empty and yet takes nothing is no full queue: nothing would ever change."""
    refused(options('RC', 'write', 'bw', '--wr_api', api), call, os.strerror(errno.ENOMEM), 'room',
            client=f'fail={call}:ENOMEM:0')


def with_status(double, words, fault):
    """Runs with a completion of one status → a line when it did not end as it should, or None."""
    side, kind, name, n = fault
    outcome = double(words, timeout=20, **{side: f'{kind}={n}:{name}'})
    lines = outcome.stderr.splitlines()
    cause = re.search(rf'{re.escape(status_text(name))} \((\w.*)\)$', lines[0]) if len(lines) == 1 else None
    if outcome.rc == 1 and cause and not outcome.alive():
        return None
    return f'{fault}: {outcome.rc} {outcome.stderr}'


def test_statuses(double):
    """Any status at any completion: sends and receives, in a stream and a ping-pong, on either side."""
    stream, talk = options('RC', 'send', 'bw', '--post_batch', '1', '--cq_mod', '1'), options('RC', 'send', 'lat')
    places = [(stream, 'client', 'status'), (stream, 'server', 'recv_status'), (talk, 'client', 'status'),
              (talk, 'client', 'recv_status'), (talk, 'server', 'status'), (talk, 'server', 'recv_status')]
    ways = itertools.product(places, statuses(), (1, 100)) if ALL else zip(itertools.cycle(places), statuses() * 2,
                                                                          itertools.cycle((1, 100, 7)))
    with ThreadPoolExecutor(WORKERS) as pool:
        runs = [pool.submit(with_status, double, words, (side, kind, name, n))
                for (words, side, kind), name, n in ways]
        wrong = [run.result() for run in runs if run.result()]
    assert not wrong, '\n'.join(wrong)
