//! Groups and requests for access by commands.

use crate::server::ann_leads;

#[test]
fn access_is_asked_for_and_explained_by_commands() {
    let folder = ann_leads();
    let done = |command: &str| folder.done(&command.split(' ').collect::<Vec<_>>());
    let refused = |command: &str| {
        let output = folder.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1), "{command}");
        String::from_utf8(output.stderr).unwrap()
    };
    done("user create bob --email bob@example.org");
    assert!(done("user show bob").contains("bob@example.org"));
    let said = refused("access request 20.1000 --role write");
    assert!(said.contains("--as ACCOUNT"), "{said}");
    let said = done("access request 20.1000 --role write --reason maps --as bob");
    assert!(
        said.starts_with("requested write on 20.1000: request "),
        "{said}"
    );
    let id = said.trim().rsplit(' ').next().unwrap();
    let listed = done("access list --as ann");
    assert!(
        listed.contains("bob asks for write on 20.1000: maps"),
        "{listed}"
    );
    refused("name create 20.1000/a --as bob");
    assert_eq!(
        done(&format!("access grant {id} --as ann")),
        format!("granted request {id}\n")
    );
    done("name create 20.1000/a --as bob");
    let why = done("authority why 20.1000 --as bob");
    assert!(
        why.starts_with("write  granted on 20.1000 by ann at "),
        "{why}"
    );
    assert!(why.ends_with(": maps\n"), "{why}");

    done("group create leads");
    done("group add leads bob");
    done("authority grant 20.1000 --to group:leads --role lead --as ann");
    let why = done("authority why 20.1000 --who bob");
    assert!(
        why.starts_with("lead   granted on 20.1000 to group:leads by ann at "),
        "{why}"
    );
    let people = done("authority people 20.1000 --as bob");
    assert!(
        people.contains("bob ") && people.contains("ann "),
        "{people}"
    );
    let holdings = done("user holdings bob");
    assert!(
        holdings.contains("lead on 20.1000 by group leads"),
        "{holdings}"
    );
    let wrong = folder.run(&["name", "show", "20.1000/a", "--as", "group:leads"]);
    assert_eq!(wrong.status.code(), Some(2));
    done("check");
    done("log verify");
}
