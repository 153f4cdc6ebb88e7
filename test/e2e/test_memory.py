"""Host memory in huge pages: used and reported where there are some, else refused with how many are free."""
import os
from pathlib import Path

import pytest

POOL = Path('/sys/kernel/mm/hugepages/hugepages-2048kB')
WORDS = ('-r', 'null', '-i', '1000', '-w', '0', '-s', '64K', '--hugepages', '2M')


@pytest.fixture
def pages():
    """pages(n) reserves that many huge pages; as before afterwards."""
    pool = POOL / 'nr_hugepages'
    if not pool.exists() or not os.access(pool, os.W_OK):
        pytest.skip('this machine has no huge pages of 2 MiB, or only root may reserve them')
    before = pool.read_text()

    def call(count):
        try:
            pool.write_text(str(count))
        except OSError as error:
            pytest.skip(f'huge pages cannot be reserved here: {error}')
        if int(pool.read_text()) != count:
            pytest.skip('this machine has no room for huge pages')
    yield call
    pool.write_text(before)


def test_used(pages, measure):
    pages(16)
    document = measure(*WORDS)
    for side in ('requestor', 'responder'):
        assert document['connections'][0][side]['facts']['hugePages'] == '4 of 2MiB', document
    assert int((POOL / 'free_hugepages').read_text()) == 16


def test_too_few(pages, run):
    pages(1)
    result = run(*WORDS, '-n', 'localhost')
    assert result.rc == 1 and len(result.stderr.splitlines()) == 1, result
    for part in ('need 4 huge pages of 2MiB', "1 of this host's 1 are free", "'echo 4 > ", 'nr_hugepages'):
        assert part in result.stderr, result
