//! Updates by import over the network: what they touch, what a dry run shows, and how they are
//! undone.

use crate::server::{ann_leads, token};

const TABLE: &str = "id,url\n20.1000/a,https://n/a\n20.1000/new,https://n/new\n";

/// The command says the same on a folder, beside a server, and over the network.
#[test]
fn the_command_shows_and_undoes_updates_everywhere() {
    let told = ["folder", "socket", "url"].map(|place| {
        let folder = ann_leads();
        let token = token(&folder, &[]);
        folder.write("token", token);
        folder.write("names.csv", TABLE);
        folder.done(&["name", "create", "20.1000/a", "--url", "https://o/a"]);
        let server = (place != "folder").then(|| folder.serve(&[]));
        let url = server.as_ref().map(|server| server.url());
        let url = url.filter(|_| place == "url");
        let run = |arguments: &str| {
            let server_options = url
                .iter()
                .flat_map(|url| ["--api", url, "--token-file", "token"]);
            let arguments: Vec<_> = server_options.chain(arguments.split(' ')).collect();
            folder.done(&arguments)
        };
        [
            "import names.csv --update --replace --dry-run",
            "import names.csv --update",
            "job undo 1 --dry-run",
            "job undo 1",
            "job undo 2",
        ]
        .map(run)
    });
    assert!(told[0][0].contains("    - 1 URL https://o/a\n    + 1 URL https://n/a\n"));
    assert!(told[0][1].contains("changed 1 (values: 0 added, 1 changed, 0 removed)"));
    assert!(
        told[0][3].contains("what the import created stays (1)"),
        "{told:?}"
    );
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}
