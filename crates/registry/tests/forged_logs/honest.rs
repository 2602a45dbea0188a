//! Honest logs, and logs that continue another.

use handfast_log::SigningKey;
use handfast_registry::{Action, Event};
use serde_json::json;

use super::Made;
use super::forger::{
    A, DAY, ERASABLE, Forger, THESIS, export, hidden, key, old_key, open, opened, public,
    with_header,
};

/// Honest logs that only earlier programs wrote, or that are small enough to read.
#[rustfmt::skip] // A row is a line.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn honest() -> Vec<(&'static str, &'static str, String)> {
    use Action::*;
    let base = Forger::new;
    let erased = || base().name(Create, hidden("hdl:20.8/X"), ERASABLE, 1).name(Erase,
        hidden("hdl:20.8/X"), ERASABLE, 2);
    vec![
        ("honest-empty", "nothing", export(&[], |_| ())),
        ("honest-life", "all that can become of a name", erased()
            .name(Create, hidden("hdl:20.8/Y"), ERASABLE, 1).name(Withdraw, hidden("hdl:20.8/Y"),
                ERASABLE, 2)
            .name(Transfer, hidden("hdl:20.8/Y"), ERASABLE, 3).name(MintReserved,
                hidden("hdl:20.8/Z"), ERASABLE, 1)
            .name(Activate, hidden("hdl:20.8/Z"), ERASABLE, 2).name(Reserve, hidden("hdl:20.9/P"),
                A, 1)
            .name(Change, hidden("hdl:20.9/P"), A, 2).name(Activate, opened("hdl:20.9/P"), A, 3)
            .name(Change, opened("hdl:20.9/P"), A, 4).withdrawn().name(Transfer, open(THESIS), A, 3)
            .name(Restore, open(THESIS), A, 4).name(Change, open(THESIS), A, 5).export()),
        ("honest-becomes-permanent", "names that could be erased become permanent, and are opened",
            base()
            .name(Create, hidden("hdl:20.8/X"), ERASABLE, 1).on(ChangeAuthority, ERASABLE, 2)
            .name(Change, opened("hdl:20.8/X"), ERASABLE, 2).name(Create, open("hdl:20.8/Y"),
                ERASABLE, 1).export()),
        ("honest-erased-then-permanent",
            "an earlier program made an authority permanent that had erased names", erased()
            .on(ChangeAuthority, ERASABLE, 2).name(Create, open("hdl:20.8/Y"), ERASABLE,
                1).export()),
        ("honest-time-back", "an earlier program dated all of an import by its beginning", base()
            .name(Create, open("hdl:20.9/X"), A, 1).with(|e| e.time -= 23 * DAY / 24).export()),
        ("honest-nul", "an earlier program took a name with U+0000",
            base().name(Create, open("hdl:20.9/A\0B"), A, 1).export()),
        ("honest-case", "case counts", base().name(Create, open("hdl:20.9/thesis"), A, 1).export()),
        ("honest-case-of-urns", "case counts in URNs and info URIs", base()
            .authority("urn:example").name(Create, open("urn:example:A"), "urn:example",
                1).name(Create, open("urn:example:a"), "urn:example", 1)
            .authority("ark:12025").name(Create, open("ark:12025/A"), "ark:12025", 1).name(Create,
                open("ark:12025/a"), "ark:12025", 1)
            .authority("info:pmid").name(Create, open("info:pmid/1"), "info:pmid", 1).export()),
        ("honest-begin", "a log continues another",
            base().begin_log().name(Change, open(THESIS), A, 2).begin_log().export()),
        ("honest-declined", "an authority is declined, asked for again and homed again", base()
            .on(RequestAuthority, "hdl:20.7", 1).on(Grant, "hdl:20.7", 2).on(DeclineAuthority,
                "hdl:20.7", 3)
            .on(RequestAuthority, "hdl:20.7", 1).on(ApproveAuthority, "hdl:20.7", 2)
            .name(Create, open("hdl:0.NA/20.7"), "hdl:20.7", 1).on(RetireAuthority, "hdl:20.7", 3)
            .on(Revoke, "hdl:20.7", 4).on(ApproveAuthority, "hdl:20.7", 5).name(Create,
                open("hdl:20.7/X"), "hdl:20.7", 1).export()),
        ("honest-namespaces", "entries are proposed, claimed, refused and withdrawn", base()
            .on(ClaimNamespace, "info:lccn", 2).on(VerifyNamespace, "info:lccn",
                3).on(ChangeNamespace, "info:lccn", 4)
            .on(ProposeNamespace, "info:x", 1).on(CommentNamespace, "info:x", 1).on(RefuseNamespace,
                "info:x", 2)
            .on(ProposeNamespace, "info:x", 3).on(CommentNamespace, "info:x",
                2).on(ApproveNamespace, "info:x", 4)
            .on(RenewNamespace, "info:x", 5).on(DeprecateNamespace, "info:x",
                6).on(WithdrawNamespace, "info:x", 7)
            .on(ImportNamespace, "info:y", 1).on(NamespacePolicy, "info:", 1).on(NamespacePolicy,
                "info:", 2).export()),
        ("honest-home", "a prefix below one that is not here;
                UNHOME leaves those below, which go on", base()
            .authority("hdl:20.9.1").on(RetireAuthority, A, 2).name(Create, open("hdl:20.9.1/X"),
                "hdl:20.9.1", 1)
            .authority("hdl:20.9.1.5").on(ChangeAuthority, "hdl:20.9.1", 2).on(ApproveAuthority, A,
                3).authority("hdl:20.9.2").export()),
        ("honest-approved-below-retired",
            "an authority was asked for before the one above it was retired", base()
            .authority("urn:urn-3").authority("urn:urn-3:hul").on(RequestAuthority,
                "urn:urn-3:hul.ois", 1)
            .on(RetireAuthority, "urn:urn-3:hul", 2).on(ApproveAuthority, "urn:urn-3:hul.ois", 2)
            .name(Create, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois", 1).export()),
        ("honest-below-requested", "a prefix below one that was only asked for, or declined", base()
            .on(RequestAuthority, "hdl:20.7", 1).authority("hdl:20.7.1").on(DeclineAuthority,
                "hdl:20.7", 2).authority("hdl:20.7.2").export()),
        ("honest-info", "names in namespaces that are registered", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn", 1)
            .on(ProposeNamespace, "info:x", 1).on(ApproveNamespace, "info:x",
                2).authority("info:x").name(Mint, open("info:x/1"), "info:x", 1)
            .on(DeprecateNamespace, "info:x", 3).name(Create, open("info:x/2"), "info:x", 1)
            .on(WithdrawNamespace, "info:x", 4).name(Change, open("info:x/2"), "info:x",
                2).export()),
        ("honest-info-unregistered",
            "earlier programs named in namespaces that nobody had registered", base()
            .authority("info:x").name(Create, open("info:x/1"), "info:x", 1).on(ProposeNamespace,
                "info:x", 1)
            .name(Create, open("info:x/2"), "info:x", 1).export()),
        ("honest-info-withdrawn", "an earlier program named in a namespace that was withdrawn",
            base()
            .authority("info:lccn").on(WithdrawNamespace, "info:lccn", 2).name(Create,
                open("info:lccn/1"), "info:lccn", 1).export()),
        ("honest-info-other-rules", "a namespace of the original registry has rules of its own",
            base()
            .authority("info:lccn").on(ChangeNamespace, "info:lccn", 2).name(Create,
                open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("honest-info-rules-changed",
            "a namespace of the original registry gets other rules, by which two spellings are two \
            names", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn", 1)
            .on(ChangeNamespace, "info:lccn", 2)
            .name(Create, open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("noted-info-spelling", "an LCCN that the original registry spells otherwise", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78-890351"), "info:lccn",
                1).export()),
        ("noted-scheme-in-prefix", "an earlier program took a scheme for a part of a prefix", base()
            .authority("hdl:HDL:20.9").name(Create, open("hdl:HDL:20.9/THESIS"), "hdl:HDL:20.9",
                1).export()),
        ("honest-urn-tree", "authorities of URN namespaces, one below the other", base()
            .authority("urn:urn-3").authority("urn:urn-3:hul").authority("urn:urn-3:hul.ois")
            .name(Create, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois",
                1).authority("urn:example")
            .authority("urn:example:a").name(Create, open("urn:example:a:b:c"), "urn:example:a", 1)
            .name(Create, open("urn:example:b"), "urn:example", 1)
            .on(RetireAuthority, "urn:urn-3:hul", 2).on(RetireAuthority, "urn:urn-3:hul.ois", 2)
            .name(Change, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois", 2).export()),
        ("honest-extra-lines", "a checkpoint with a line that others may know", {
            let events: Vec<_> = base().events.iter().map(Event::to_bytes).collect();
            export(&events, |head| head.extensions.push("witness 1".into()))
        }),
    ]
}

/// Logs that continue another, and the keys and checkpoints to compare them with.
#[rustfmt::skip] // A row is a line.
pub(super) fn successions() -> Vec<Made> {
    use Action::*;
    let base = Forger::new;
    let (new, old) = (key(), old_key());
    let other = SigningKey::new("other.example/log", &[7; 32]).unwrap();
    let both = || vec![public(&old), public(&new)];
    let before = || vec![base().checkpoint(&old)];
    let change = |log: Forger| log.name(Change, open(THESIS), A, 2);
    let made = |name, what, log: Forger, keys,
        from| Made { name, what, log: log.export(), keys, from };
    vec![
        made("honest-succession", "a log continues another, compared with a checkpoint of that",
            change(base().begin_log()), both(), before()),
        made("honest-succession-one-key", "a log continues another, of which nothing is known",
            change(base().begin_log()), vec![public(&new)], vec![]),
        made("honest-succession-of-none", "events from before there was a log",
            change(base().begin_log_after("")), vec![public(&new)], vec![]),
        made("honest-successions", "a log continues one that continues another",
            change(base().begin_log()).begin_log_after("other.example/log"),
            vec![public(&other), public(&old), public(&new)],
            vec![base().checkpoint(&old), change(base().begin_log()).checkpoint(&other)]),
        made("honest-same-name", "a log of the same name continues it with another key",
            change(base().begin_log_after("forged.example/log")),
            vec![public(&SigningKey::new("forged.example/log", &[3; 32]).unwrap()), public(&new)],
            vec![base().checkpoint(&SigningKey::new("forged.example/log", &[3; 32]).unwrap())]),
        made("honest-own-earlier", "an earlier checkpoint of the same log", change(base()),
            vec![public(&new)], vec![base().checkpoint(&new)]),
        made("succession-of-another",
            "a log continues another than the one whose checkpoint is known",
            change(base().begin_log_after("other.example/log")), both(), before()),
        made("succession-of-another-key", "a log continues another than the one whose key is known",
            change(base().begin_log_after("other.example/log")), both(), vec![]),
        made("succession-unsaid", "a new key signs, and no event begins a log", change(base()),
            both(), vec![]),
        made("succession-unsaid-from",
            "a new key signs after a checkpoint, and no event begins a log", change(base()), both(),
            before()),
        made("succession-unsaid-same-name",
            "a new key of the same name signs, and no event begins a log", change(base()),
            vec![public(&SigningKey::new("forged.example/log", &[3; 32]).unwrap()), public(&new)],
            vec![base().checkpoint(&SigningKey::new("forged.example/log", &[3; 32]).unwrap())]),
        made("succession-same-key", "a log begins with the key of the one before it",
            change(base().begin_log_after("forged.example/log")), vec![public(&new)],
            vec![base().checkpoint(&new)]),
        made("succession-signed-by-old", "the old key signs what came after the new log began",
            change(base().begin_log()), both(), vec![change(base().begin_log()).checkpoint(&old)]),
        made("earlier-rewritten", "an earlier checkpoint is of other events", change(base()),
            vec![public(&new)], vec![base().withdrawn().checkpoint(&new)]),
        made("earlier-longer", "an earlier checkpoint is of more events", base(),
            vec![public(&new)], vec![change(base()).checkpoint(&new)]),
        Made { log: with_header(&change(base().begin_log()).export(),
            |header| header["key"] = json!(public(&old))),
            ..made("wrong-key", "an export says that another key is its own", base(), both(),
            vec![]) },
    ]
}
