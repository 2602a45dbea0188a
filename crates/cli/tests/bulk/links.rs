//! Citable links, which commands print and imports ignore.

use crate::export::rich;
use crate::*;

const PUBLIC_URL: &str = "[web]\npublic-url = \"https://pid.example.org/\"";

/// A folder that is like another one, but for its configuration.
fn copy_of(exported: &str, configuration: &str) -> Folder {
    let other = Folder::empty(PROGRAM);
    other.done(&["init"]);
    other.configure(configuration);
    let file = other.write("export", exported);
    other.done(&["import", &file]);
    other
}

#[test]
fn an_export_has_the_link_of_each_name_and_an_import_ignores_it() {
    let folder = rich();
    let without = folder.done(&["export"]);
    assert!(!without.contains("\"link\""));
    folder.configure(PUBLIC_URL);
    let with = folder.done(&["export"]);
    let names = lines(&with);
    let names: Vec<_> = names.iter().filter(|line| line["id"].is_string()).collect();
    assert!(names.len() > 8);
    for name in names {
        let id = name["id"].as_str().unwrap();
        let expected = format!("https://pid.example.org/{id}");
        assert_eq!(name["link"], expected.as_str());
    }
    // Where names are cited is a matter of the server, and not of the names.
    assert_eq!(copy_of(&with, "").done(&["export"]), without);
    assert_eq!(copy_of(&with, PUBLIC_URL).done(&["export"]), with);
    assert_eq!(copy_of(&without, PUBLIC_URL).done(&["export"]), with);
    let file = folder.write("export.ndjson", &with);
    let [created, changed, _, refused] = counts(&folder.json(&["import", &file, "--update"]));
    assert_eq!([created, changed, refused], [0, 0, 0]);
}

#[test]
fn a_table_has_a_column_of_links_and_formats_of_other_programs_have_none() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    folder.done(&["name", "create", "20.1/a b", "--url", "https://a.example/"]);
    let table = |folder: &Folder| folder.done(&["export", "--format", "csv"]);
    let without = table(&folder);
    folder.configure(PUBLIC_URL);
    let with = table(&folder);
    let expected = "id,url,link\n\
                    20.1/a b,https://a.example/,https://pid.example.org/20.1/a%20b\n";
    assert_eq!(with, expected);
    let other = Folder::with(PROGRAM, &["20.1"]);
    let file = other.write("names.csv", &with);
    other.done(&["import", &file]);
    assert_eq!(table(&other), without);
    other.configure(PUBLIC_URL);
    assert_eq!(table(&other), with);
    for format in ["batch", "json"] {
        let exported = folder.done(&["export", "--format", format]);
        assert!(exported.contains("20.1/a b"), "{exported}");
        assert!(!exported.contains("pid.example.org"), "{exported}");
    }
}

#[test]
fn commands_print_the_link_of_a_name_with_and_without_a_server() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let created = folder.done(&[
        "name",
        "create",
        "20.1/plain",
        "--url",
        "https://a.example/",
    ]);
    assert_eq!(created, "created 20.1/plain (active)\n");
    assert_eq!(
        folder.json(&["name", "show", "20.1/plain"]).get("link"),
        None
    );
    folder.configure(PUBLIC_URL);
    for (number, _beside) in [None, Some(folder.serve(&[]))].into_iter().enumerate() {
        let id = format!("20.1/n{number}");
        let link = format!("https://pid.example.org/{id}");
        let create = ["name", "create", &id, "--url", "https://a.example/"];
        let row = format!("  cite as       {link}\n");
        let told = folder.done(&create);
        assert_eq!(told, format!("created {id} (active)\n{row}"));
        let shown = folder.done(&["name", "show", &id]);
        assert!(shown.contains(&row), "{shown}");
        assert_eq!(folder.json(&["name", "show", &id])["link"], link.as_str());
        let changed = folder.json(&["name", "set", &id, "--url", "https://b.example/"]);
        assert_eq!(changed["link"], link.as_str());
        let list = folder.done(&["name", "list", "--authority", "20.1"]);
        assert!(
            list.contains(&format!("active     {id}  {link}\n")),
            "{list}"
        );
        let minted = folder.done(&["mint", "--authority", "20.1"]);
        let (minted, cited) = minted.trim().split_once("  ").unwrap();
        assert_eq!(cited, format!("https://pid.example.org/{minted}"));
        let minted = folder.json(&["mint", "--authority", "20.1"]);
        let cited = format!("https://pid.example.org/{}", minted["id"].as_str().unwrap());
        assert_eq!(minted["link"], cited.as_str());
        let resolved = folder.done(&["resolve", &id]);
        assert!(resolved.contains(&row), "{resolved}");
        assert_eq!(folder.json(&["resolve", &id])["link"], link.as_str());
    }
    // A public URL that is none is for `serve` to report, and names nothing.
    folder.configure("[web]\npublic-url = \"pid\"");
    assert_eq!(folder.json(&["name", "show", "20.1/n0"]).get("link"), None);
    // The first resolver of the configuration is the one that pages cite, too.
    folder.configure(&format!(
        "resolvers = [\"https://hdl.example.org\"]\n{PUBLIC_URL}"
    ));
    let shown = folder.json(&["name", "show", "20.1/n0"]);
    assert_eq!(shown["link"], "https://hdl.example.org/20.1/n0");
}
