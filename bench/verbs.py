"""The comparisons with perftest on soft-RoCE, inside the emulated machine."""
import functools

from compare import Comparison, Group, Wanted
from native import SMALL_PARENT
from programs import Perftest

DEVICE, ADDRESS = 'rxe0', '10.1.0.1'
QPS = 512
NOISE = 0.05  # a ratio of 1.0 is wanted, within this
WARMUP_S = 1  # as long as the margin that perftest leaves out
QP_TIMEOUT = 18  # RC waits a second for an acknowledgement: the default sends again what emulation only delays

# name, what, perftest's program, message size, metric, our options, perftest's options, only what was received
TESTS = (
    ('vm_write_bw', 'RC write 64 KiB', 'ib_write_bw', 65536, 'bw', ('-v', 'write'), (), False),
    ('vm_read_bw', 'RC read 64 KiB', 'ib_read_bw', 65536, 'bw', ('-v', 'read'), (), False),
    ('vm_send_bw', 'UD send 1 KiB, received', 'ib_send_bw', 1024, 'bw', ('-c', 'UD', '-v', 'send'), ('-c', 'UD'), True),
    ('vm_write_lat', 'RC write 8 bytes', 'ib_write_lat', 8, 'lat', ('-v', 'write'), (), False),
    ('vm_send_lat', 'RC send 8 bytes', 'ib_send_lat', 8, 'lat', ('-v', 'send'), (), False),
    ('vm_read_lat', 'RC read 8 bytes', 'ib_read_lat', 8, 'lat', ('-v', 'read'), (), False),
)


def traffic(test, fabperf, seconds):
    name, what, program, size, metric, ours, theirs, received = test
    if '-c' not in ours:
        ours, theirs = (*ours, '--qp_timeout', QP_TIMEOUT), (*theirs, '-u', QP_TIMEOUT)
    peer = Perftest(DEVICE, ADDRESS)

    def run_ours():
        return fabperf.measure('-d', DEVICE, '-m', metric, '-s', size, *ours, seconds=seconds, warmup=WARMUP_S)

    def run_theirs():
        if metric == 'lat':
            return peer.latency(program, size, seconds, *theirs)
        return peer.bandwidth(program, size, seconds, *theirs, received=received)

    if metric == 'lat':
        judged = (f'{what} latency, median, {program}', 'fabperf', program, 'median', 'us', 1e6,
                  Wanted(most=1 + NOISE))
    else:
        judged = (f'{what}, {program}', 'fabperf', program, 'bytes', 'Mb/s', 8e-6, Wanted(least=1 - NOISE))
    return Group(name, {'fabperf': run_ours, program: run_theirs}, [Comparison(*judged)])


def set_up(fabperf, _seconds):
    """A client's whole run with 512 queue pairs less one with a single queue pair, the same few messages in both."""
    peer = Perftest(DEVICE, ADDRESS)

    def ours(qps):
        return fabperf.connect('-d', DEVICE, '-v', 'write', '-q', qps, '-i', 5, '-t', 5, '-s', 64, '-w', 0,
                               '--qp_timeout', QP_TIMEOUT)

    sides = {'fabperf': lambda: {'time': ours(QPS) - ours(1)},
             'ib_write_bw': lambda: {'time': peer.connect(QPS) - peer.connect(1)}}
    return Group('vm_set_up', sides, [
        Comparison(f'{QPS} queue pairs more than one, ib_write_bw -q', 'fabperf', 'ib_write_bw', 'time', 's', 1,
                   Wanted(most=0.5)),
    ])


def memory(fabperf, _seconds):
    """The larger side's resident memory without its data buffers; the device's queues, which it maps, are in it."""
    def resident():
        connection = fabperf.run('-d', DEVICE, '-v', 'write', '-q', 1024, '-i', 16, '-w', 0, '-s', 64,
                                 '--qp_timeout', QP_TIMEOUT, before=SMALL_PARENT)['connections'][0]
        sides = (connection['requestor'], connection['responder'])
        return {'bytes': max(side['residentBytes'] - side['bufferBytes'] for side in sides)}

    return Group('vm_memory', {'fabperf': resident}, [
        Comparison('memory beside the data buffers, RC, 1024 QPs', 'fabperf', None, 'bytes', 'MiB', 2 ** -20,
                   Wanted(most=64)),
    ], once=True)


GROUPS = {test[0]: functools.partial(traffic, test) for test in TESTS} | {'vm_set_up': set_up, 'vm_memory': memory}
