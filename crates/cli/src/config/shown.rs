//! The configuration as administrators see it in the console: which value holds, and where it
//! comes from.

use handfast_server::ShownSetting;
use toml::{Table, Value};

use super::file::{ConfigFile, FILE};

/// Settings that are listed even if nothing is said of them, and what holds then.
const LISTED: [(&str, &str); 14] = [
    ("web.accent", "not set"),
    ("web.accent-dark", "not set"),
    ("web.access-log", "off"),
    ("web.access-log-file", "not set"),
    ("web.certificate", "not set"),
    ("web.client-header", "not set"),
    ("web.contact", "not set"),
    ("web.footer", "not set"),
    ("web.list-authorities", "true"),
    ("web.logo", "not set"),
    ("web.name", "not set"),
    ("web.public-search", "false"),
    ("web.public-url", "not set"),
    ("web.trusted-proxies", "not set"),
];
/// A key with one of these words may have a secret.
const SECRET_WORDS: [&str; 4] = ["credential", "password", "secret", "token"];

/// The settings that hold, by key. `printed` is the configuration in force, as a file.
pub(super) fn settings(
    file: &ConfigFile,
    printed: &str,
    overridden: &[&'static str],
) -> Vec<ShownSetting> {
    let read = |text: &str| text.parse::<Table>().unwrap_or_default();
    let said = toml::to_string(file).unwrap_or_default();
    let (mut in_file, mut in_force) = (Vec::new(), Vec::new());
    flatten("", &Value::Table(read(&said)), &mut in_file);
    flatten("", &Value::Table(read(printed)), &mut in_force);
    // The version of the file is no setting, and a folder may have no file.
    in_force.retain(|(key, _)| key != "version");
    let unset: Vec<_> = LISTED
        .into_iter()
        .filter(|(key, _)| in_force.iter().all(|(found, _)| found != key))
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    let mut settings: Vec<_> = in_force
        .into_iter()
        .chain(unset)
        .map(|(key, value)| ShownSetting {
            origin: if overridden.contains(&key.as_str()) {
                "command line or environment"
            } else if in_file.iter().any(|(found, _)| *found == key) {
                FILE
            } else {
                "default"
            },
            value: if SECRET_WORDS.iter().any(|word| key.contains(word)) {
                "not shown".to_string()
            } else {
                value
            },
            key,
        })
        .collect();
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

/// Each value with the keys that lead to it.
fn flatten(key: &str, value: &Value, found: &mut Vec<(String, String)>) {
    let below = |name: &str| match key {
        "" => name.to_string(),
        key => format!("{key}.{name}"),
    };
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                flatten(&below(name), value, found);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (at, value) in (1..).zip(values) {
                flatten(&format!("{key}[{at}]"), value, found);
            }
        }
        Value::String(text) => found.push((key.to_string(), text.clone())),
        other => found.push((key.to_string(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_says_where_it_comes_from() {
        let file: ConfigFile = toml::from_str(
            "version = \"v1\"\n[web]\nname = \"Library\"\nlisten = \"127.0.0.1:80\"\n",
        )
        .unwrap();
        let printed = "version = \"v1\"\n[native]\nlisten = \"127.0.0.1:2641\"\n\
                       [web]\nname = \"Library\"\nlisten = \"127.0.0.1:80\"\n";
        let settings = settings(&file, printed, &["web.listen"]);
        let origin = |key: &str| {
            let found = settings.iter().find(|setting| setting.key == key);
            found.map(|setting| (setting.value.as_str(), setting.origin))
        };
        assert_eq!(origin("web.name"), Some(("Library", FILE)));
        assert_eq!(
            origin("web.listen"),
            Some(("127.0.0.1:80", "command line or environment"))
        );
        assert_eq!(origin("native.listen"), Some(("127.0.0.1:2641", "default")));
        assert_eq!(origin("web.public-url"), Some(("not set", "default")));
        assert_eq!(origin("version"), None);
        assert_eq!(origin("web.access-log"), Some(("off", "default")));
        assert_eq!(origin("web.list-authorities"), Some(("true", "default")));
    }
}
