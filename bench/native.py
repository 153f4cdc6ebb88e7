"""The comparisons that need no RDMA device: TCP and UDP against peers, and what the harness itself costs."""
import functools
import time
from pathlib import Path

import programs
from compare import Comparison, Group, Wanted

CALL_BYTES = 768 * 1024  # what fabperf sends in one call of 64 KiB messages: --post_batch's automatic 12
# The kernel counts the peak of the process that forks for the one it starts: let that be a small one.
SMALL_PARENT = ('/bin/sh', '-c', '"$@"; exit $?', 'sh')
BLOCKING, POLLING = 'fabperf --events', 'fabperf polling'
GB, USEC, MSGS, NSEC = ('GB/s', 1e-9), ('us', 1e6), ('M msg/s', 1e-6), ('ns', 1e9)


def versus(text, ours, theirs, figure, unit, **wanted):
    return Comparison(text, ours, theirs, figure, *unit, Wanted(**wanted))


def tcp_bw(fabperf, seconds):
    loop = Path(fabperf.path).parent / 'bench-tcp_loop'
    sides = {
        'fabperf': lambda: fabperf.measure('-c', 'TCP', '-s', '64Ki', seconds=seconds),
        'qperf': lambda: programs.qperf('tcp_bw', 65536, seconds),
        'iperf3': lambda: programs.iperf3(65536, seconds),
        'bare loop': lambda: programs.tcp_loop(loop, CALL_BYTES, seconds),
    }
    return Group('tcp_bw', sides, [
        versus('TCP 64 KiB stream, qperf tcp_bw', 'fabperf', 'qperf', 'bytes', GB, least=2.0),
        versus('TCP 64 KiB stream, iperf3 -l 64K', 'fabperf', 'iperf3', 'bytes', GB, least=2.0),
        versus('TCP 64 KiB stream, bare loop of the same calls', 'fabperf', 'bare loop', 'bytes', GB, least=0.9),
    ])


def tcp_lat(fabperf, seconds):
    options = ('-c', 'TCP', '-m', 'lat', '-s', 1)
    loop = Path(fabperf.path).parent / 'bench-tcp_ping'
    sides = {
        BLOCKING: lambda: fabperf.measure(*options, '--events', 'on', seconds=seconds),
        'qperf': lambda: programs.qperf('tcp_lat', 1, seconds),
        POLLING: lambda: fabperf.measure(*options, seconds=seconds),
        'sockperf': lambda: programs.sockperf_tcp(seconds),
        'bare loop': lambda: programs.tcp_ping(loop, seconds),
    }
    return Group('tcp_lat', sides, [
        versus('TCP 1 byte latency, both blocking, mean, qperf tcp_lat', BLOCKING, 'qperf', 'mean', USEC, most=1.0),
        versus('TCP 1 byte latency, both blocking, median, sockperf', BLOCKING, 'sockperf', 'median', USEC, most=1.0),
        versus('TCP 1 byte latency, ours polling, mean, qperf tcp_lat', POLLING, 'qperf', 'mean', USEC, most=0.25),
        versus('TCP 1 byte latency, ours polling, median, sockperf', POLLING, 'sockperf', 'median', USEC, most=0.25),
        versus('TCP 1 byte latency, polling, median, bare loop of the same calls', POLLING, 'bare loop', 'median', USEC,
               most=1.1),
    ])


def udp_rate(fabperf, seconds):
    plain, joined = 'fabperf --gso off', 'fabperf'
    sides = {
        plain: lambda: fabperf.measure('-c', 'UDP', '-s', 64, '--gso', 'off', seconds=seconds),
        'qperf': lambda: programs.qperf('udp_bw', 64, seconds),
        joined: lambda: fabperf.measure('-c', 'UDP', '-s', 64, seconds=seconds),
        'sockperf': lambda: programs.sockperf_udp(64, seconds),
    }
    return Group('udp_rate', sides, [
        versus('UDP 64 bytes received, --gso off, qperf udp_bw', plain, 'qperf', 'messages', MSGS, least=1.1),
        versus('UDP 64 bytes received, --gso off, sockperf', plain, 'sockperf', 'messages', MSGS, least=1.1),
        versus('UDP 64 bytes received, offload, qperf udp_bw', joined, 'qperf', 'messages', MSGS, least=20),
        versus('UDP 64 bytes received, offload, sockperf', joined, 'sockperf', 'messages', MSGS, least=20),
    ])


def ofi_lat(fabperf, seconds):
    """libfabric's own ping-pong on the same providers, 8 bytes, both polling."""
    sides, comparisons = {}, []
    for provider in ('tcp', 'shm'):
        ours, theirs = f'fabperf {provider}', f'fi_pingpong {provider}'
        sides[ours] = functools.partial(fabperf.measure, '-r', 'ofi', '-d', provider, '-m', 'lat', '-v', 'send',
                                        '-s', 8, seconds=seconds)
        sides[theirs] = functools.partial(programs.fi_pingpong, provider, 8, seconds)
        comparisons.append(versus(f'libfabric {provider}, send 8 bytes, mean, fi_pingpong', ours, theirs, 'mean', USEC,
                                  most=1.0))
    return Group('ofi_lat', sides, comparisons)


def qperf(fabperf, seconds):
    """'fabperf qperf' against qperf, the same words."""
    sides, comparisons = {}, []
    for test, size, figure, unit, bound in (('tcp_bw', 65536, 'bytes', GB, {'least': 1.0}),
                                            ('tcp_lat', 1, 'mean', USEC, {'most': 1.0}),
                                            ('udp_lat', 1, 'mean', USEC, {'most': 1.0})):
        ours, theirs = f'fabperf qperf {test}', f'qperf {test}'
        sides[ours] = functools.partial(programs.own_qperf, fabperf.path, test, size, seconds)
        sides[theirs] = functools.partial(programs.qperf, test, size, seconds)
        comparisons.append(versus(f'{test}, qperf at both ends, {size} bytes', ours, theirs, figure, unit, **bound))
    return Group('qperf', sides, comparisons)


def null_cost(fabperf, seconds):
    def cost(batch):
        rates = fabperf.measure('-r', 'null', '--post_batch', batch, seconds=seconds)
        return {'cost': 1 / rates['messages']}

    sides = {f'batch {batch}': functools.partial(cost, batch) for batch in (1, 32)}
    return Group('null_cost', sides, [
        versus('null driver, batch 1: time a message', 'batch 1', None, 'cost', NSEC, most=10),
        versus('null driver, batch 32: time a message', 'batch 32', None, 'cost', NSEC, most=3),
    ])


def null_instructions(fabperf, _seconds):
    """The difference of two counted runs, so that start and end do not count."""
    few, many = 10_000_000, 30_000_000

    def cost(batch):
        counts = [programs.instructions(fabperf.path, '-r', 'null', '-w', 0, '--post_batch', batch, '-i', messages)
                  for messages in (few, many)]
        return {'instructions': (counts[1] - counts[0]) / (many - few)}

    return Group('null_instructions', {'batch 32': functools.partial(cost, 32)}, [
        versus('null driver, batch 32: instructions a message', 'batch 32', None, 'instructions', ('', 1), most=15),
    ], once=True)


def memory(fabperf, _seconds):
    """The larger side's resident memory without its data buffers; messages are small, so that these are small."""
    def resident(*options):
        connection = fabperf.run('-D', 1, '-w', 0, '-s', 64, *options, seconds=1, before=SMALL_PARENT)['connections'][0]
        sides = (connection['requestor'], connection['responder'])
        return {'bytes': max(side['residentBytes'] - side['bufferBytes'] for side in sides)}

    sides = {f'{name}, {qps} QPs': functools.partial(resident, *words, '-q', qps)
             for name, words in (('null', ('-r', 'null')), ('TCP', ('-c', 'TCP'))) for qps in (1, 1024)}
    return Group('memory', sides, [
        versus(f'memory beside the data buffers, {side}', side, None, 'bytes', ('MiB', 2 ** -20), most=most)
        for side, most in zip(sides, (16, 64) * 2)
    ])


def start_time(fabperf, _seconds):
    def whole():
        begin = time.monotonic()
        fabperf.run('-r', 'null', '-D', 1, '-w', 0, seconds=1)
        return {'beyond': time.monotonic() - begin - 1}

    return Group('start_time', {'fabperf': whole}, [
        versus('start to exit of -r null -D 1 -w 0, beyond the second', 'fabperf', None, 'beyond', ('s', 1), most=2),
    ])


GROUPS = {group.__name__: group
          for group in (tcp_bw, tcp_lat, udp_rate, ofi_lat, qperf, null_cost, null_instructions, memory, start_time)}
