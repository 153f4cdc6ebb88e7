"""Golden files: pytest test/golden --refresh writes them anew; without it a difference is a failure."""
import difflib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_addoption(parser):
    parser.addoption('--refresh', action='store_true', help='write the golden files instead of comparing with them')


@pytest.fixture
def golden(request):
    """golden('help.txt', text): the text is what the file holds."""
    def call(name, text):
        path = HERE / name
        if request.config.getoption('--refresh', default=False):
            path.write_text(text)
        stored = path.read_text()
        if text != stored:
            lines = difflib.unified_diff(stored.splitlines(), text.splitlines(), f'golden/{name}', 'now', lineterm='')
            pytest.fail('\n'.join([*lines, 'if that is as it should be: pytest test/golden --refresh']), pytrace=False)
    return call
