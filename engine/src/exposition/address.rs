//! Where to listen, as a person writes it: `HOST:PORT`, `:PORT` or `PORT`.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Nobody on another machine reaches it.
const LOOPBACK: &str = "127.0.0.1";

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name or an IP address; of version 6 without brackets.
    pub host: String,
    /// 0: any that is free.
    pub port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let wrong = || format!("\"{text}\" is no address: write HOST:PORT, :PORT or PORT, such as {LOOPBACK}:9464");
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inside) => inside,
            // Where the last colon of an address of version 6 stands says nothing about a port.
            None if host.contains([':', '[', ']', '/']) => return Err(wrong()),
            None if host.is_empty() => LOOPBACK,
            None => host,
        };
        // `+1` would be a number as well.
        let port = Some(port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let port = port.and_then(|port| port.parse().ok()).ok_or_else(wrong)?;
        Ok(Address { host: host.into(), port })
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Address>().map(|address| address.to_string())
    }

    #[test]
    fn without_a_host_it_is_this_machine_alone() {
        for text in ["9464", ":9464", "127.0.0.1:9464"] {
            assert_eq!(read(text).as_deref(), Ok("127.0.0.1:9464"), "{text}");
        }
        assert_eq!(read("0").as_deref(), Ok("127.0.0.1:0"));
    }

    #[test]
    fn a_host_is_a_name_or_an_address_of_either_version() {
        for text in ["localhost:1", "0.0.0.0:65535", "[::1]:9464", "[::]:0"] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn whatever_has_no_port_is_refused_with_its_text() {
        for text in [
            "",
            ":",
            "localhost",
            "localhost:",
            "::1",
            "[::1]",
            "1:2:3",
            "http://localhost:9464",
            ":65536",
            ":+1",
            ": 1",
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(&format!("\"{text}\" is no address")), "{error}");
        }
    }
}
