"""The rendered results in report/ (test/unit/test_report.c writes and compares them) obey the schema."""
import copy
import json
from pathlib import Path

import jsonschema
import pytest

from e2e import result_schema

HERE = Path(__file__).resolve().parent
DOCUMENTS = sorted((HERE / 'report').glob('*.json'))


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: path.stem)
def test_document_obeys_schema(path):
    result_schema.check(path.read_text())


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: path.stem)
def test_every_document_has_its_text(path):
    assert path.with_suffix('.txt').stat().st_size > 0


def load(name):
    return json.loads((HERE / 'report' / f'{name}.json').read_text())


def test_known_figures():
    bandwidth = load('bw')['connections'][0]['results']['bwResults']
    assert bandwidth['bwGbSec'] == pytest.approx(1907349 * 65536 * 8 / 10 / 1e9)
    latency = load('lat')['connections'][0]['results']['latResults']
    assert latency['maxUsec'] == 5000 and latency['minUsec'] == 2 and latency['halved']
    read = load('short_read')['connections'][0]['results']['latResults']
    assert read['mode'] == 'completion' and read['maxUsec'] == 1000
    assert read['from'] == 'post'
    overload = load('overload')['connections'][0]
    assert overload['results']['latResults']['mode'] == 'round_trip' and not overload['results']['latResults']['halved']
    assert overload['load']['achievedMpps'] == 0.045 and not overload['load']['sustained']
    assert [row['significant'] for row in read['percentiles'] if row['percentile'] in (99, 99.9)] == [True, False]


def objects(value, path=()):
    """Every object of a document with its path."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from objects(item, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def test_schema_is_strict():
    """No object takes a field that the schema does not know, and none but the open ones may lose a field."""
    for name in ('udp', 'lat'):
        document = load(name)
        for place, value in objects(document):
            changed = copy.deepcopy(document)
            at(changed, place)['not a field'] = 1
            assert not result_schema.VALIDATOR.is_valid(changed), place
            if place[-1:] == ('facts',):
                continue
            for key in value:
                changed = copy.deepcopy(document)
                del at(changed, place)[key]
                assert not result_schema.VALIDATOR.is_valid(changed), place + (key,)


def test_every_field_is_described():
    def undescribed(schema, path):
        for key, value in schema.get('properties', {}).items():
            explained = {'description', '$ref', 'const', 'anyOf', 'enum'} & value.keys() or 'properties' in value \
                or value.get('type') == 'array'
            if not explained:
                yield path + (key,)
            yield from undescribed(value, path + (key,))
    schema = result_schema.SCHEMA
    missing = list(undescribed(schema, ()))
    for name, definition in schema['$defs'].items():
        missing += list(undescribed(definition, (name,)))
    assert not missing


def test_wrong_documents_are_refused():
    document = load('bw')
    document['connections'][0]['results']['bwResults']['bwGbSec'] = -1
    with pytest.raises(AssertionError, match='bwGbSec'):
        result_schema.check(document)
    document = load('bw')
    document['connections'][0]['results']['bwResults']['bytes'] += 1
    with pytest.raises(AssertionError):
        result_schema.check(document)
    with pytest.raises(jsonschema.ValidationError):
        result_schema.VALIDATOR.validate({})
