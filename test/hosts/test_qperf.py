"""'fabperf qperf' between hosts over a narrow wire: what waits in it neither fails a test nor the next one."""
import re
import signal


def test_what_waits_in_the_wire_spoils_no_test(hosts, fabperf):
    """Four seconds of datagrams: the test's end stands behind them, and with qperf the next test's beginning does."""
    hosts.narrow('node3', '10mbit', 5000000)
    server = hosts.start('node3', 'qperf')
    try:
        words = '-t 0.5 -to 2 -ws 2 -uu udp_bw -n 5 tcp_lat'.split()
        result = hosts.command('node0', fabperf, 'qperf', 'node3', *words, timeout=60)
    finally:
        hosts.narrow('node3', '10gbit', 10000000)
        server.send(signal.SIGTERM)
        ended = server.wait()
    assert result.rc == 0 and not ended.stdout, (result, ended)
    sent, received = (int(rate) for rate in re.findall(r'_bw +=  +(\d+)', result.stdout))
    assert 0 < received < 10e6 / 8 * 2 < sent
