"""The addresses that are measured: every page of the page table, with its filters and its worst cases."""

import pathlib
import sys
import urllib.parse

from registry import BIG, LAST_WORD, MIDDLE, OTHER, SHARED_URL, SMALL, TOP, name

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'tests' / 'console'))

import page_list  # noqa: E402


def quoted(text):
    return urllib.parse.quote(str(text), safe='')


def public(names):
    """What an anonymous visitor opens."""
    big = names * 9 // 10
    active, withdrawn, last = name(BIG, 1), name(BIG, 27), name(BIG, big - 1)
    yield from ['/', '/about', '/robots.txt', '/sitemap.xml', f'/{active}?noredirect', f'/{last}?noredirect', f'/{withdrawn}', f'/{withdrawn}?noredirect',
                f'/{BIG}', f'/{TOP}', f'/{BIG}.7', f'/{name(BIG, 99999999)}', f'/{BIG}/item-000001', f'/{BIG}/' + 'x7' * 60, f'/{BIG}/' + 'ab' * 99,
                f'/{name(BIG, 3)}', '/20.9999/none', f'/?q={quoted(active)}', f'/?q={BIG}', '/?q=harbour', f'/{active}?qr', f'/{active}?info', f'/{active}?metadata']
    yield from [f'/registry{path}' for path in (
        '/', '/?q=doi', '/?q=nothing', '/info.json', '/about', '/about.json', '/changes', '/changes.atom', '/policy', '/policy.json', '/authorities',
        '/authorities.json', f'/authorities?under={BIG}', f'/authorities?under={TOP}', f'/authorities?after={quoted("hdl:" + BIG + ".900")}',
        '/authorities?limit=1000', f'/authorities/{BIG}', f'/authorities/{BIG}.json', f'/authorities/{TOP}', f'/authorities/{BIG}.7', '/urn', '/urn.json', '/info/doi',
        f'/recognise?text={quoted(active)}', '/nothing')]
    yield from [f'/api/v1{path}' for path in (
        '', '/statistics', f'/inspect?id={quoted(active)}', f'/search?q=harbour', f'/names/{quoted(active)}', f'/names/{quoted(active)}/history',
        f'/names/{quoted(active)}/proof', '/authorities?limit=1000', f'/authorities/{BIG}', '/namespaces', '/log/checkpoint')]
    yield from [f'/oai?verb={verb}' for verb in ('Identify', 'ListSets', 'ListMetadataFormats', 'ListRecords&metadataPrefix=oai_dc',
                                                 'ListIdentifiers&metadataPrefix=oai_dc&from=2030-01-01')]


def console(names, things):
    """Every page of the page table, and each with its filters."""
    for pattern in page_list.routes('GET'):
        yield from page_list.Things(**things).paths(pattern)
    yield from ['/console/names' + query for query in name_filters(names)]
    yield from ['/console/names.csv' + query for query in ('', f'?q={LAST_WORD}', '?q=nosuchword', f'?authority={OTHER}&state=withdrawn')]
    yield from ['/console/events' + query for query in event_filters(names)]
    yield from ['/console/events.csv' + query for query in ('', '?action=transfer', f'?authority={BIG}&account=person-2', f'?authority={SMALL}&until=2030-01-01')]
    yield from ['/console/events.atom' + query for query in ('', f'?authority={BIG}&action=create')]
    yield from [f'/console/activate?list=1', f'/console/activate?list=1&authority={BIG}', f'/console/activate?list=1&authority={BIG}&q={LAST_WORD}',
                f'/console/activate?authority={BIG}&first=1&last=99999999', f'/console/mint/names?authority={BIG}&first=1&last=99999999',
                f'/console/mint/names?authority={BIG}&first=99999998&last=99999999', f'/console/mint/names.csv?authority={BIG}&first=1&last=99999999',
                f'/console/mint/example?authority={BIG}', f'/console/names/new/check?id={quoted(name(BIG, 1))}', f'/console/names/new/check?id={quoted(name(BIG, 99999999))}',
                f'/console/names/new?authority={BIG}', f'/console/mint?authority={BIG}']
    yield from [f'/console/jobs/new?preview=1&kind=host&authority={authority}&from={host}&to=new.example'
                for authority in (BIG, TOP, OTHER) for host in ('one.example', 'none.example')]
    yield from [f'/console/jobs/new?preview=1&kind=ttl&authority={BIG}&seconds=60', f'/console/jobs/new?preview=1&kind=prefix&authority={BIG}'
                '&from=https://one.example/&to=https://new.example/']
    yield from ['/console/jobs?before=5', '/console/authorities?q=collection', '/console/authorities?q=nosuch', f'/console/authorities?q=collection&under={BIG}',
                '/console/people?q=person', '/console/people?q=nosuch', '/console/groups?q=group', '/console/groups?q=nosuch', f'/console/authorities/{BIG}/people?q=nosuch',
                f'/console/authorities/{BIG}.7/people', f'/console/authorities/{BIG}.7/why?who=person-3', f'/console/authorities/{BIG}/why?who=person-77',
                '/console/namespaces?q=nosuch', '/console/namespaces?status=registered', '/console/server/sign-ins?account=person-1',
                '/console/server/sign-ins?account=person-100']
    for job in things.get('job', []):
        yield from [f'/console/jobs/{job}/report?after={after}' for after in (1000, 90000)]


def name_filters(names):
    big = names * 9 // 10
    last, deep = name(BIG, big - 1), quoted(f'hdl:{name(BIG, big - 100)}'.replace('item', 'ITEM'))
    return [f'?authority={BIG}', f'?authority={BIG}&children=1', f'?authority={TOP}&children=1', f'?authority={BIG}.7', '?state=withdrawn', '?state=reserved',
            f'?authority={BIG}.7&state=withdrawn', f'?authority={SMALL}&state=withdrawn', f'?q={LAST_WORD}', '?q=nosuchword', '?q=harbour', '?q=nosuch+words+at+all+anywhere',
            f'?q={BIG}/zz', '?q=a/nosuch:word', '?q=https://nosuch.example/', f'?q={SHARED_URL}', f'?q={SHARED_URL}&by=url&after={deep}',
            f'?q={SHARED_URL}&authority={OTHER}', f'?q={SHARED_URL}&state=reserved', f'?q={SHARED_URL}&since=2030-01-01', f'?q={last}', f'?q={last}x', f'?q={name(BIG, 99999999)}', f'?q={BIG}/item-000001', f'?q={BIG}/' + 'x7' * 60,
            '?since=2030-01-01', f'?since=2030-01-01&q=harbour', f'?authority={BIG}&state=withdrawn&q={LAST_WORD}', f'?after={deep}', f'?authority={BIG}&after={deep}',
            f'?q={LAST_WORD}&after={deep}', f'?q=harbour&state=reserved&authority={BIG}', f'?q={LAST_WORD}&authority={BIG}&children=1']


def event_filters(names):
    return [f'?authority={BIG}', f'?authority={TOP}', f'?authority={SMALL}', f'?authority={BIG}.7', '?account=person-5', '?account=person-2', '?account=nosuch',
            '?action=transfer', '?action=withdraw', '?action=create', '?action=reserve', '?since=2030-01-01', '?until=2020-01-01', f'?id={quoted(name(BIG, 1))}',
            f'?id={quoted(name(BIG, 3))}', f'?authority={BIG}&account=person-2', f'?authority={SMALL}&account=person-5', f'?authority={OTHER}&action=grant',
            f'?authority={SMALL}&action=withdraw', '?action=create&account=person-5', '?action=change&account=operator', '?after=1000', f'?after={names // 2}', f'?authority={MIDDLE}&after=1000',
            f'?authority={BIG}&action=reserve', f'?authority={BIG}&action=create&account=person-5', f'?authority={BIG}&after={names // 2}', '?authority=20.500.77']


def api(names):
    """Lists of the API that have more filters than pages."""
    big = names * 9 // 10
    return [f'/api/v1{path}' for path in (
        '/names', '/names?changedBy=person-2', '/names?changedBy=person-5', f'/names?authority={BIG}&changedBy=person-100', f'/names?limit=1000&q=harbour',
        f'/search?q={LAST_WORD}', '/jobs', '/events', '/events.csv', '/accounts?limit=1000', '/groups', f'/authorities/{BIG}/people',
        '/accounts/person-1/holdings', f'/names/{quoted(name(BIG, big - 1))}')]
