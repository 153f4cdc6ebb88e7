"""The emulated machine itself: soft-RoCE is up, the clock is the fast one, nothing else is needed to test on it."""
import subprocess
from pathlib import Path


def test_device_is_active():
    shown = subprocess.run(['ibv_devinfo', '-d', 'rxe0'], capture_output=True, text=True, check=True).stdout
    assert 'PORT_ACTIVE' in shown
    assert 'active_mtu:\t\t4096' in shown


def test_gids_are_ipv4_and_ipv6():
    folder = Path('/sys/class/infiniband/rxe0/ports/1/gids')
    gids = {file.read_text().strip() for file in folder.iterdir()}
    assert '0000:0000:0000:0000:0000:ffff:0a01:0001' in gids
    assert 'fd00:0010:0001:0000:0000:0000:0000:0001' in gids


def test_clock_needs_no_system_call():
    assert Path('/sys/devices/system/clocksource/clocksource0/current_clocksource').read_text() == 'tsc\n'


def test_two_processors():
    assert Path('/proc/cpuinfo').read_text().count('processor\t') == 2
