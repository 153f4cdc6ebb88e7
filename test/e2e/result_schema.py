"""The schema of result documents: check(document) raises a readable AssertionError where the document breaks a rule."""
import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / 'docs' / 'result.schema.json').read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def check(document):
    """Returns the document (text is parsed first); raises AssertionError with the places that are wrong."""
    if isinstance(document, (str, bytes)):
        document = json.loads(document)
    errors = [deepest(error) for error in VALIDATOR.iter_errors(document)]
    assert not errors, '\n'.join(f'{"/".join(map(str, e.absolute_path))}: {e.message[:300]}' for e in errors)
    for connection in document['connections'] or []:
        if 'results' in connection:
            check_connection(connection)
    if 'perNode' in document['aggregatedResults']:
        check_sums(document['aggregatedResults'])
    return document


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def check_sums(results):
    """Processes make devices, devices hosts, and what all hosts send is what all receive: the test's sum."""
    for number, test in enumerate(results['perTest']):
        for way in ('sendGbSec', 'receiveGbSec'):
            rows = {key: [row for row in results.get(key, []) if row['test'] == number and way in row]
                    for key in ('perNode', 'perDevice', 'perProcess')}
            total = {key: sum(row[way] or 0 for row in rows[key]) for key in rows if key in results}
            figures = test['figures'] or {}
            if rows['perNode'] and figures.get('sumGbSec') is not None:
                assert all(near(value, figures['sumGbSec']) for value in total.values()), (test, total)
            for host in rows['perNode']:
                parts = [row[way] or 0 for row in rows['perDevice'] if row['hostName'] == host['hostName']]
                assert near(sum(parts), host[way] or 0), (host, parts)
            for device in rows['perDevice'] if 'perProcess' in results else []:
                parts = [row[way] or 0 for row in rows['perProcess']
                         if all(row[key] == device[key] for key in ('hostName', 'deviceName', 'cudaDeviceId'))]
                assert near(sum(parts), device[way] or 0), (device, parts)


def deepest(error):
    """Of the alternatives that all failed, the one that came furthest."""
    while error.context:
        error = max(error.context, key=lambda e: len(e.absolute_path))
    return error


def check_connection(connection):
    """What a schema can't say: figures that must agree with each other."""
    loss = connection['loss']
    if loss and loss['received'] <= loss['sent']:
        assert loss['sent'] == loss['received'] + loss['lost'], loss
    latency = connection['results']['latResults']
    if latency:
        check_latency(latency)
    bandwidth = connection['results']['bwResults']
    if connection['results']['operations']:
        check_operations(connection)
    elif bandwidth:
        size = connection['testConfig']['resourceConfig']['operations'][0]['msgSize']
        assert bandwidth['bytes'] == bandwidth['messages'] * size
        assert abs(bandwidth['bwGbSec'] - bandwidth['msgRateMpps'] * size * 8 / 1000) <= 1e-6 * bandwidth['bwGbSec']


def check_operations(connection):
    """Each is as configured and its bytes follow; together they are what the requestor counted."""
    rows, requestor = connection['results']['operations'], connection['requestor']['bwResults']
    listed = connection['testConfig']['resourceConfig']['operations']
    assert [{'verb': row['verb'], 'msgSize': row['msgSize']} for row in rows] == listed
    assert all(row['bytes'] == row['messages'] * row['msgSize'] for row in rows), rows
    for key in ('messages', 'bytes'):
        assert sum(row[key] for row in rows) == requestor[key], key
    for key in ('bwGbSec', 'msgRateMpps'):
        assert abs(sum(row[key] for row in rows) - requestor[key]) <= 1e-6 * requestor[key], key


def check_latency(latency):
    """min <= percentiles in order <= max, and a histogram that holds every sample."""
    values = [row['usec'] for row in latency['percentiles']]
    assert values == sorted(values), values
    assert latency['minUsec'] <= latency['medianUsec'] <= latency['maxUsec']
    assert all(latency['minUsec'] <= value <= latency['maxUsec'] for value in values)
    assert sum(row[2] for row in latency['histogram']) == latency['samples']
