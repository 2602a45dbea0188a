"""Runs the integration tests that come with pyhandle against a server.

    suites.py BASE_URL PREFIX INDEX:HANDLE PASSWORD FOLDER

A copy of the library is made in FOLDER, because its tests read where the server is from a file of their own, and name one
administrator wherever they write one.
"""

import collections
import importlib
import json
import os
import re
import shutil
import sys
import unittest
import uuid

import pyhandle
import requests
import urllib3

urllib3.disable_warnings()

# Class names are as they are published, doubled letters included.
SUITES = [
    ('handleclient_read_integration_test', 'RESTHandleClientReadaccessTestCase'),
    ('handleclient_write_integration_test', 'RESTHandleClientWriteaccessTestCase'),
    ('handleclient_search_integration_test', 'RESTTHandleClientSearchTestCase'),
]
NEEDS_THE_WORLD = {'test_global_resolve'}
# What fails in the client, whatever a server does.
STALE = {
    'test_register_handle': 'the client no longer takes an argument that the test gives',
    'test_generate_and_register_handle': 'the test sends a list as the data of a value',
    'test_delete_handle_inexistent': 'the client raises where the test expects nothing',
}
# The administrator that the tests name, and an argument that they forget.
NAMED = '"handle":"21.T14999/B2HANDLE_INTEGRATION_TESTS"'
FORGOTTEN = ('PIDClientCredentials(\n            handle_server_url=',
             "PIDClientCredentials(\n            client='rest',\n            handle_server_url=")


def main(base, prefix, user, password, folder):
    index, administrator = user.split(':', 1)
    tag = uuid.uuid4().hex[:8]
    read, modified, created, found = (f'{prefix}/{kind}-{tag}' for kind in ('read', 'modified', 'created', 'found'))
    copy(folder, index, administrator)
    settings = {
        'user': user, 'password': password, 'HTTPS_verify': False,
        'handle_server_url_read': base, 'handle_server_url_write': base, 'url_extension_REST_API': '/api/handles/',
        'reverselookup_username': user, 'reverselookup_password': password, 'reverselookup_baseuri': base,
        'reverselookup_baseuri_wrong': base + '/nothing-is-here', 'reverselookup_url_extension': '/hrls/handles/',
        'handle_for_read_tests': read, 'handle_globally_resolvable': '20.1000/100',
        'handle_to_be_created': created, 'handle_to_be_modified': modified,
    }
    for kind, handle in (('for_read_tests', read), ('to_be_modified', modified)):
        for which in ('with', 'without'):
            settings[f'handle_{kind}_{which}_10320LOC'] = handle
    resources = os.path.join(folder, 'pyhandle', 'tests', 'resources')
    with open(os.path.join(resources, 'testvalues_for_integration_tests_IGNORE.json'), 'w') as file:
        json.dump(settings, file)

    session = requests.Session()
    session.verify = False
    session.trust_env = False
    session.auth = (user.replace(':', '%3A'), password)
    admin = {'index': 100, 'type': 'HS_ADMIN', 'data': {'format': 'admin', 'value': {
        'handle': administrator, 'index': index, 'permissions': '011111110011'}}}
    values = {
        read: [(4, 'TEST4', 'val4'), (111, 'TEST1', 'val1'), (333, 'TEST3', 'val3'), (2222, 'TEST2', 'val2')],
        found: [(1, 'URL', 'http://www.dkrz.example/x'), (2, 'CHECKSUM', 'abc')],
    }
    for handle, given in values.items():
        given = [{'index': at, 'type': of, 'data': data} for at, of, data in given]
        answer = session.put(f'{base}/api/handles/{handle}', json={'values': given + [admin]})
        assert answer.status_code == 201, answer.text

    # The library that is copied, not the one that is installed.
    for name in [name for name in sys.modules if name.split('.')[0] == 'pyhandle']:
        del sys.modules[name]
    sys.path.insert(0, folder)
    outcomes = collections.Counter()
    for module, case in SUITES:
        tests = importlib.import_module('pyhandle.tests.testcases.' + module)
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(getattr(tests, case)):
            outcomes[run(test)] += 1
    for handle in (read, modified, created, found):
        session.delete(f'{base}/api/handles/{handle}')
    print(', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items())))
    return 1 if outcomes['failed'] or not outcomes['passed'] else 0


def run(test):
    name = test.id().rsplit('.', 1)[1]
    if name in NEEDS_THE_WORLD:
        print(f'skipped: {name} needs the public network')
        return 'skipped'
    result = unittest.TestResult()
    test.run(result)
    if result.wasSuccessful():
        return 'passed'
    if name in STALE:
        print(f'skipped: {name}: {STALE[name]}')
        return 'skipped'
    print(f'FAILED: {name}\n{(result.failures + result.errors)[0][1]}')
    return 'failed'


def copy(folder, index, administrator):
    """Copies the library, with another administrator in its tests."""
    place = os.path.join(folder, 'pyhandle')
    shutil.copytree(os.path.dirname(pyhandle.__file__), place)
    for module, _ in SUITES[:2]:
        path = os.path.join(place, 'tests', 'testcases', module + '.py')
        with open(path) as file:
            text = file.read()
        text = text.replace(NAMED, f'"handle":"{administrator}"').replace(*FORGOTTEN)
        text = re.sub(rf'("handle":"{re.escape(administrator)}",\s*"index":)300', rf'\g<1>{index}', text)
        with open(path, 'w') as file:
            file.write(text)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
