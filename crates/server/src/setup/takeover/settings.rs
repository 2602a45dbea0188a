//! The settings of a `config.dct` that have a meaning here.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use handfast_id::Prefix;
use handfast_registry::Principal;
use handfast_wire::Dct;

use super::TakeoverError;

/// Settings that are taken over, and the names of those that are not.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) native: Option<SocketAddr>,
    pub(super) web: Option<SocketAddr>,
    pub(super) administrators: Vec<Principal>,
    pub(super) has_full_access: bool,
    pub(super) replication: Vec<Principal>,
    pub(super) prefixes: Vec<String>,
    pub(super) is_case_sensitive: bool,
    pub(super) left: Vec<String>,
}

/// The placeholder for a prefix in the set-up of deployed servers.
const PLACEHOLDER: &str = "YOUR_PREFIX";

impl Settings {
    pub(super) fn of(config: &Dct) -> Result<Self, TakeoverError> {
        let mut settings = Self::default();
        let mut udp = None;
        for (key, value) in entries(config, "config.dct")? {
            match key.as_str() {
                "hdl_tcp_config" => settings.native = Some(settings.address(key, value)?),
                "hdl_udp_config" => udp = Some(settings.address(key, value)?),
                "hdl_http_config" => settings.web = Some(settings.address(key, value)?),
                "server_config" => settings.take_server(value)?,
                // The interfaces follow from the addresses.
                "interfaces" => {}
                "server_type" if value.text() == Some("server") => {}
                _ => settings.left.push(key.clone()),
            }
        }
        match (settings.native, udp) {
            (Some(tcp), Some(udp)) if tcp != udp => {
                let line = format!("hdl_udp_config: UDP is spoken where TCP is, at {tcp}");
                settings.left.push(line);
            }
            (None, Some(udp)) => settings.native = Some(udp),
            _ => {}
        }
        settings.prefixes.sort();
        settings.prefixes.dedup();
        Ok(settings)
    }

    /// Reads an address.
    fn address(&mut self, name: &str, config: &Dct) -> Result<SocketAddr, TakeoverError> {
        let wrong = |key: &str, expected| TakeoverError::Setting {
            key: format!("{name}.{key}"),
            expected,
        };
        let mut address = IpAddr::from(Ipv4Addr::UNSPECIFIED);
        let mut port = None;
        for (key, value) in entries(config, name)? {
            let text = value.text().unwrap_or_default();
            match key.as_str() {
                "bind_address" => {
                    let read = text.parse();
                    address = read.map_err(|_| wrong(key, "an IP address"))?;
                }
                "bind_port" => {
                    let read = text.parse().ok().filter(|port| *port != 0);
                    port = Some(read.ok_or_else(|| wrong(key, "a port"))?);
                }
                _ => self.left.push(format!("{name}.{key}")),
            }
        }
        let port = port.ok_or_else(|| wrong("bind_port", "there"))?;
        Ok(SocketAddr::new(address, port))
    }

    fn take_server(&mut self, config: &Dct) -> Result<(), TakeoverError> {
        const NAME: &str = "server_config";
        let flag = |key: &str, value: &Dct| {
            let key = format!("{NAME}.{key}");
            let expected = "yes or no";
            value.flag().ok_or(TakeoverError::Setting { key, expected })
        };
        for (key, value) in entries(config, NAME)? {
            match key.as_str() {
                "server_admins" => self.administrators = self.items(key, value, identity),
                "replication_admins" => self.replication = self.items(key, value, identity),
                "auto_homed_prefixes" => self.prefixes = self.items(key, value, prefix),
                "server_admin_full_access" => self.has_full_access = flag(key, value)?,
                "case_sensitive" => self.is_case_sensitive = flag(key, value)?,
                _ => self.left.push(format!("{NAME}.{key}")),
            }
        }
        Ok(())
    }

    /// The items of a list that were filled in and can be read.
    fn items<T>(
        &mut self,
        key: &str,
        list: &Dct,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Vec<T> {
        let mut items = Vec::new();
        for text in list.items().iter().filter_map(Dct::text) {
            let item = if text.contains(PLACEHOLDER) {
                Err("no prefix was filled in")
            } else {
                read(text)
            };
            match item {
                Ok(item) => items.push(item),
                Err(why) => self.left_item(key, text, why),
            }
        }
        items
    }

    fn left_item(&mut self, key: &str, text: &str, why: &str) {
        let line = format!("server_config.{key}: {text}: {why}");
        self.left.push(line);
    }
}

fn identity(text: &str) -> Result<Principal, &'static str> {
    match Principal::parse(text) {
        Ok(who @ Principal::Identity { .. }) => Ok(who),
        _ => Err("it is no INDEX:HANDLE"),
    }
}

fn prefix(text: &str) -> Result<String, &'static str> {
    let prefix = handfast_registry::prefix_of(text).unwrap_or(text);
    let read = Prefix::parse(prefix).map_err(|_| "it is no prefix");
    read.map(|_| prefix.to_string())
}

fn entries<'d>(table: &'d Dct, name: &str) -> Result<&'d [(String, Dct)], TakeoverError> {
    match table {
        Dct::Table(entries) => Ok(entries),
        _ => Err(TakeoverError::Setting {
            key: name.to_string(),
            expected: "a table",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Settings, TakeoverError> {
        Settings::of(&Dct::parse(text).unwrap())
    }

    #[test]
    fn a_configuration_as_the_set_up_of_servers_writes_it_is_read() {
        let read = settings(
            r#"{
            "hdl_http_config" = { "bind_address" = "192.0.2.1" "bind_port" = "8000"
                "log_accesses" = "yes" }
            "server_type" = "server"
            "hdl_udp_config" = { "bind_address" = "192.0.2.1" "num_threads" = "15"
                "bind_port" = "2641" }
            "hdl_tcp_config" = { "bind_address" = "192.0.2.1" "bind_port" = "2641" }
            "log_save_config" = { "log_save_directory" = "logs" }
            "interfaces" = ( "hdl_udp" "hdl_tcp" "hdl_http" )
            "server_config" = {
              "server_admins" = ( "300:0.NA/20.1000" "300:0.NA/YOUR_PREFIX" "nobody" )
              "replication_admins" = ( "301:0.NA/20.1000" )
              "server_admin_full_access" = "yes" "case_sensitive" = "no"
              "auto_homed_prefixes" = ( "0.NA/20.1000.2" "0.NA/20.1000" )
              "sql_settings" = { "sql_passwd" = "hush" }
            } }"#,
        )
        .unwrap();
        assert_eq!(read.native, Some("192.0.2.1:2641".parse().unwrap()));
        assert_eq!(read.web, Some("192.0.2.1:8000".parse().unwrap()));
        assert_eq!(
            read.administrators,
            [Principal::parse("300:0.NA/20.1000").unwrap()]
        );
        assert_eq!(
            read.replication,
            [Principal::parse("301:0.NA/20.1000").unwrap()]
        );
        assert_eq!(read.prefixes, ["20.1000", "20.1000.2"]);
        assert!(read.has_full_access && !read.is_case_sensitive);
        assert_eq!(
            read.left,
            [
                "hdl_http_config.log_accesses",
                "hdl_udp_config.num_threads",
                "log_save_config",
                "server_config.server_admins: 300:0.NA/YOUR_PREFIX: no prefix was filled in",
                "server_config.server_admins: nobody: it is no INDEX:HANDLE",
                "server_config.sql_settings",
            ]
        );
    }

    #[test]
    fn a_setting_that_cannot_be_is_an_error_that_names_it() {
        for (text, key) in [
            ("x", "config.dct"),
            ("{ hdl_tcp_config = x }", "hdl_tcp_config"),
            ("{ hdl_tcp_config = { } }", "hdl_tcp_config.bind_port"),
            (
                "{ hdl_tcp_config = { bind_port = 99999 } }",
                "hdl_tcp_config.bind_port",
            ),
            (
                "{ hdl_tcp_config = { bind_port = 1 bind_address = here } }",
                "hdl_tcp_config.bind_address",
            ),
            (
                "{ server_config = { case_sensitive = perhaps } }",
                "server_config.case_sensitive",
            ),
        ] {
            let error = settings(text).err().unwrap().to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
    }
}
