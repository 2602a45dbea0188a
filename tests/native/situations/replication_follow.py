"""Mirrors that follow the transactions (§11.1, §11.3)."""

import json

import wire
from harness import code, equal, expect, situation
from replication import COPY_ANEW, CREATED, DELETED, SENDING, UPDATED, receiver, retrieve_body, state_body
from wire import Value

from .replication_copy import dump, ours, retrieve


def since(copy, **how):
    return retrieve_body(copy.last_id, copy.date, **how)


def of(transactions, handle):
    return [t for t in transactions if t.handle.upper() == handle.upper().encode()]


@situation("admin", "replication")
def following_comes_to_the_same_as_copying(s):
    old = s.record(Value(1, "URL", "https://example.org/old"))
    doomed = s.record(Value(1, "URL", "https://example.org/doomed"))
    mirror = dump(s)
    new = s.record(Value(1, "URL", "https://example.org/new"))
    code(s.modify(old, [Value(1, "URL", "https://example.org/changed")]), 1)
    code(s.add(old, [Value(5, "HS_SECKEY", "secret", permissions=0x04)]), 1)
    code(s.delete(doomed), 1)
    news = retrieve(s, since(mirror))
    equal("format", 1, news.format)
    equal("status", SENDING, news.status)
    ids = [t.id for t in news.transactions]
    expect(ids == sorted(set(ids)) and ids[0] > mirror.last_id, f"ids after {mirror.last_id}: {ids}")
    equal("actions on a new handle", [CREATED], [t.action for t in of(news.transactions, new)])
    equal("actions on a changed one", {UPDATED}, {t.action for t in of(news.transactions, old)})
    equal("actions on a deleted one", [DELETED], [t.action for t in of(news.transactions, doomed)])
    expect(news.date >= mirror.date, f"date {news.date} after {mirror.date}")
    mirror.apply(news.transactions)
    copy = dump(s)
    equal("handles of this run", ours(s, copy.handles), ours(s, mirror.handles))
    for name in ours(s, copy.handles):
        copied = [v for h, v in copy.handles.items() if h.upper() == name]
        followed = [v for h, v in mirror.handles.items() if h.upper() == name]
        equal(f"values of {name}", copied, followed)
    equal("values as they resolve", s.found(new), mirror.handles[of(news.transactions, new)[0].handle])
    # From there on there is nothing new.
    mirror.date = news.date
    later = retrieve(s, since(mirror))
    equal("status", SENDING, later.status)
    equal("transactions of this run", [], [t for t in later.transactions if ours(s, [t.handle])])


@situation("admin", "replication")
def what_is_gone_is_not_created_and_what_is_deleted_is_gone(s):
    before = dump(s)
    handle = s.record(Value(1, "URL", "https://example.org/"))
    code(s.delete(handle), 1)
    news = of(retrieve(s, since(before)).transactions, handle)
    equal("actions", [DELETED], [t.action for t in news])


@situation("admin", "replication")
def values_are_those_of_now(s):
    before = dump(s)
    handle = s.record(Value(1, "URL", "https://example.org/first"))
    code(s.modify(handle, [Value(1, "URL", "https://example.org/second")]), 1)
    for t in of(retrieve(s, since(before)).transactions, handle):
        urls = [v.data for v in t.values if v.index == 1]
        equal(f"URL of transaction {t.id}", [b"https://example.org/second"], urls)


@situation("admin", "replication")
def the_servers_of_a_mirror_share_transactions_by_hash(s):
    before = dump(s)
    for _ in range(8):
        s.record(Value(1, "URL", "https://example.org/"), word="shared")
    whole = retrieve(s, since(before)).transactions
    for option in (0, 1, 2):
        halves = [
            retrieve(s, since(before, to=receiver(option, 2, n))).transactions for n in (0, 1)
        ]
        for number, half in enumerate(halves):
            strays = [t.handle for t in half if wire.position(t.handle, option, 2) != number]
            expect(not strays, f"handles of the other server, by option {option}: {strays[:3]}")
        equal("ids of both", sorted(t.id for t in whole), sorted(t.id for h in halves for t in h))


@situation("admin", "replication")
def the_mode_stands_in_front_since_2_9(s):
    before = dump(s)
    handle = s.record(Value(1, "URL", "https://example.org/"))
    for minor, mode in ((5, b""), (7, b""), (8, b""), (9, b"\0"), (11, b"\0")):
        version = (2, minor)
        news = retrieve(s, since(before, mode=mode), version=version, suggested=version)
        equal(f"transactions for version 2.{minor}", 1, len(of(news.transactions, handle)))


@situation("admin", "replication")
def who_keeps_the_transactions_of_many_says_how_far_it_is_in_each(s):
    before = dump(s)
    handle = s.record(Value(1, "URL", "https://example.org/"))
    queue = f"0:1:0.NA/{s.prefix}"
    states = {queue: {"lastTxnId": before.last_id, "lastTimestamp": before.date}}
    own_name = f"9:0.NA/{s.prefix}"
    for own in ({}, {f"0:{own_name}": {"lastTxnId": 5, "lastTimestamp": 1}}):
        state = {"replicationServerStates": {**states, **own}, "ownName": own_name}
        news = retrieve(s, state_body(json.dumps(state)))
        equal("format", 2, news.format)
        equal("status", SENDING, news.status)
        expect(queue in news.queues, f"{queue} is not among {list(news.queues)}")
        expect(news.queues[queue] >= before.date, f"timestamp {news.queues[queue]}")
        equal("transactions", 1, len(of(news.transactions, handle)))
        expect(all(t.id > before.last_id for t in news.transactions), "old transactions come again")
    code(s.run(1001, state_body("{"), s.key_admin or s.admin), 4, 400)


@situation("admin", "replication")
def who_is_ahead_of_the_log_has_to_copy_anew(s):
    copy = dump(s)
    date = copy.date - 5
    news = retrieve(s, retrieve_body(copy.last_id + 1_000_000, date))
    equal("status", COPY_ANEW, news.status)
    equal("transactions", [], news.transactions)
    equal("date, which is the request's own", date, news.date)
    states = {f"0:1:0.NA/{s.prefix}": {"lastTxnId": copy.last_id + 1_000_000, "lastTimestamp": date}}
    news = retrieve(s, state_body(json.dumps({"replicationServerStates": states, "ownName": ""})))
    equal("status in format 2", (2, COPY_ANEW), (news.format, news.status))


@situation("admin", "replication")
def who_was_never_here_and_has_something_has_to_copy_anew(s):
    news = retrieve(s, retrieve_body(1, 0))
    equal("status", COPY_ANEW, news.status)
    equal("date, which is the request's own", 0, news.date)
