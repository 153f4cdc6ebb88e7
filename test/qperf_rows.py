"""Output of qperf without its figures: lines, keys, order, kinds of units."""
import re

# What may differ between two runs: figures, and with them the scale of a unit.
KINDS = {'time': ['ns', 'us', 'ms', 'sec'], 'rate': ['/sec', 'K/sec', 'M/sec', 'G/sec'],
         'bytes a second': ['bytes/sec', 'KB/sec', 'MB/sec', 'GB/sec'],
         'bits a second': ['bits/sec', 'Kb/sec', 'Mb/sec', 'Gb/sec'],
         'bytes': ['bytes', 'KB', 'MB', 'GB', 'KiB', 'MiB', 'GiB'], 'cost': ['ns/GB', 'us/GB', 'ms/GB', 'sec/GB'],
         'count': ['', 'million', 'billion']}
KIND = {unit: kind for kind, units in KINDS.items() for unit in units}
ROW = re.compile(r'    (\S+) *  =  +(\S+) ?(.*)$')
# Rows that depend on how busy the machine is, and rows that qperf does not have.
SOMETIMES = re.compile(r'.*(cpus_intr|cpus_iowait|cpus_kernel|cpus_user|errors)$')
MORE = re.compile(r'latency_|lost_msgs|duplicated_msgs')


def shape(text):
    """The lines of an output, one after another; what is no figure, as a size that was given, keeps its value."""
    for line in text.splitlines():
        match = ROW.match(line)
        if not match:
            yield line
        elif not SOMETIMES.match(match[1]) and not MORE.match(match[1]):
            unit, _, note = match[3].partition(' ')
            given = not match[1].endswith(('bytes', 'msgs', 'bw', 'rate', 'latency', 'cqe', 'used', 'time', 'cost'))
            yield match[1], KIND.get(unit, unit), (match[2], note) if given else None
