//! A browser in which somebody is signed in, without script.

use handfast_registry::{NewAuthority, Role, SignInClient};
use handfast_testing::{OPERATOR, Response, Server, Setup};

pub(crate) const PASSWORD: &str = "seven green boats sail at noon";

/// Somebody who is signed in.
pub(crate) struct Browser<'s> {
    server: &'s Server,
    cookie: String,
    /// The start of all paths.
    root: &'static str,
}

/// A server with `20.1000` (on which `lea` leads, and `wim` writes) and `20.1000.3` below it,
/// `20.2000` (on which `eve` writes), an administrator `boss`, and `ann` without a role.
pub(crate) fn start() -> Server {
    let server = Setup::new().start(fill);
    server.account("lea", &[("20.1000", Role::Lead)]);
    server.account("wim", &[("20.1000", Role::Write)]);
    server.account("eve", &[("20.2000", Role::Write)]);
    server.account("ann", &[]);
    server.administrator("boss");
    server
}

fn fill(registry: &handfast_registry::Registry) {
    for (path, title) in [
        ("20.1000", "Map Collection"),
        ("20.1000.3", "Atlases"),
        ("20.2000", "Manuscripts"),
    ] {
        let new = NewAuthority {
            title: title.to_string(),
            ..NewAuthority::default()
        };
        registry.create_authority(&OPERATOR, path, new).unwrap();
    }
}

impl<'s> Browser<'s> {
    /// Signs in by a one-time link, as a person does.
    pub(crate) fn of(server: &'s Server, account: &str) -> Self {
        let link = server.registry.create_sign_in_link(&OPERATOR, account);
        let path = format!("/console/enter/{}", link.unwrap().code);
        Self::enter(server, &path)
    }

    /// Opens a link, and presses its button.
    pub(crate) fn enter(server: &'s Server, path: &str) -> Self {
        let mut browser = Self {
            server,
            cookie: String::new(),
            root: "",
        };
        let shown = browser.get(path);
        assert_eq!(shown.status, 200, "{path} {}", shown.body);
        let entered = browser.send(path, &[]);
        assert_eq!(entered.status, 303, "{}", entered.body);
        browser.store_cookie(&entered);
        browser
    }

    /// A browser without a session.
    pub(crate) fn anonymous(server: &'s Server) -> Self {
        Self {
            server,
            cookie: "Cookie: other=1".to_string(),
            root: "",
        }
    }

    /// A browser whose session began by itself, not by a link.
    pub(crate) fn with_password(server: &'s Server, account: &str) -> Self {
        let set = server.registry.set_password(&OPERATOR, account, PASSWORD);
        set.unwrap();
        let client = SignInClient::default();
        let session = server
            .registry
            .sign_in_with_password(account, PASSWORD, &client)
            .unwrap();
        Self {
            server,
            cookie: format!("Cookie: handfast-local={}", session.secret),
            root: "",
        }
    }

    /// The same browser, which puts a text before each path.
    pub(crate) fn below(self, root: &'static str) -> Self {
        Self { root, ..self }
    }

    /// The header with its session.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) fn store_cookie(&mut self, response: &Response) {
        let stored = response.header("set-cookie").unwrap();
        let pair = stored.split(';').next().unwrap();
        self.cookie = format!("Cookie: {pair}");
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let path = format!("{}{path}", self.root);
        self.server.get_with(&path, &[&self.cookie])
    }

    /// Sends a form.
    pub(crate) fn send(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let encode = |text: &str| -> String {
            let bytes = text.bytes().map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            });
            bytes.collect()
        };
        let pairs = fields.iter();
        let pairs = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let headers = [
            self.cookie.as_str(),
            "Sec-Fetch-Site: same-origin",
            "Content-Type: application/x-www-form-urlencoded",
        ];
        let path = format!("{}{path}", self.root);
        self.server.ask("POST", &path, &headers, Some(&body))
    }

    /// Sends a form, and opens the page that it leads to.
    pub(crate) fn done(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let sent = self.send(path, fields);
        assert_eq!(sent.status, 303, "{path} {}", sent.body);
        let shown = self.get(sent.location());
        assert_eq!(shown.status, 200, "{}", shown.body);
        shown
    }
}
