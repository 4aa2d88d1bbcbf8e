//! Saying hello to servers that ask for other logins than the one at hand does.

use std::net::{TcpListener, TcpStream};

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use serde_json::json;

use super::*;
use crate::config::WriterConfig;
use crate::session::Stop;

/// A public key, the other half of which nobody has.
const KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAoaKHwQixUn/CSHyGHI4k\n\
QHUEu/AcinKuXaZkyKoxyJ9vV0aVjKJj9HX8EnX6WVBK/PdWNnUfe96OcO9SX+Sm\n\
gNTOaBLlY4qW+uNOuhtMYYgS0M4VpWeCFYqe6b4fxR3RInpAPHnjqXQ7XRmI6bdM\n\
RdWgYQFLDtJkUAa+Jls9vBiklpwTAHQ2I9qQ8q9cyjhK4E0gtZAQbIorlBG9i3kx\n\
dN8PhrhWZzhreMlSjQthrhBWmyLQd6aos8j3ZoxgrD1L5nC9L3tGPP8IzCVckKPv\n\
C/pkTZ2sueKn6ExaA/1CGvjEuL2q7BMJJ8hKiiwgrqLR9Bu/deBbZBGZr7dmcFk6\n\
+wIDAQAB\n\
-----END PUBLIC KEY-----\n";

const SCRAMBLE: &[u8; 20] = b"abcdefghijklmnopqrst";

/// What a server says first.
fn greeting(version: &str, plugin: &str) -> Vec<u8> {
    let capabilities = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    let [c0, c1, c2, c3] = capabilities.bits().to_le_bytes();
    let mut packet = vec![10];
    packet.extend(version.bytes().chain([0]));
    packet.extend(7u32.to_le_bytes());
    packet.extend_from_slice(&SCRAMBLE[..8]);
    packet.extend([0, c0, c1, UTF8MB4, 2, 0, c2, c3, 21]);
    packet.extend([0; 10]);
    packet.extend_from_slice(&SCRAMBLE[8..]);
    packet.push(0);
    packet.extend(plugin.bytes().chain([0]));
    packet
}

/// Shakes hands with a server that does this, and returns the outcome.
fn hello(serve: impl FnOnce(&mut Wire) + Send) -> Result<Hello, String> {
    let parameter = json!({
        "username": "u", "password": "secret", "column": ["*"],
        "connection": [{ "jdbcUrl": "jdbc:mysql://h/d", "table": ["t"] }],
    });
    let server = WriterConfig::from_json(&parameter).unwrap().server;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    let mut client = Wire::new(socket, Stop::deaf(), None).unwrap();
    let mut peer = Wire::new(other, Stop::deaf(), None).unwrap();
    peer.patience = Some(std::time::Duration::from_secs(20));
    client.patience = peer.patience;
    std::thread::scope(|scope| {
        scope.spawn(move || serve(&mut peer));
        let outcome = shake_hands(&mut client, &server, "h");
        // The server may wait for more.
        client.shut_down();
        outcome.map_err(|failure| match failure {
            Failure::Refused(refused) => refused.cause,
            Failure::Broken(error) => error.to_string(),
        })
    })
}

/// What the response has behind the user's name.
fn answer(response: &[u8]) -> Vec<u8> {
    let behind_user = &response[32 + "u".len() + 1..];
    behind_user[1..=usize::from(behind_user[0])].to_vec()
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

#[test]
fn a_server_of_mysql_8_that_remembers_the_password_asks_no_more() {
    let hello = hello(|server| {
        server.send(&greeting("8.4.0", "caching_sha2_password")).unwrap();
        let response = server.receive().unwrap().to_vec();
        assert_eq!(answer(&response), scramble_sha256(SCRAMBLE, b"secret").unwrap());
        assert!(response.ends_with(b"d\0caching_sha2_password\0"));
        server.send(&[1, 3]).unwrap();
        server.send(OK).unwrap();
    });
    let hello = hello.unwrap();
    assert_eq!((hello.version.as_str(), hello.is_mariadb, hello.thread), ("8.4.0", false, 7));
}

#[test]
fn a_server_of_mysql_8_that_does_not_gets_the_password_encrypted_by_its_key() {
    let hello = hello(|server| {
        server.send(&greeting("8.0.36", "caching_sha2_password")).unwrap();
        server.receive().unwrap();
        server.send(&[1, 4]).unwrap();
        assert_eq!(server.receive().unwrap(), [2]);
        server.send(&[&[1], KEY.as_bytes()].concat()).unwrap();
        let encrypted = server.receive().unwrap();
        assert_eq!(encrypted.len(), 256);
        assert!(!encrypted.windows(6).any(|window| window == b"secret"));
        server.send(OK).unwrap();
    });
    assert!(hello.is_ok(), "{hello:?}");
}

#[test]
fn a_server_may_ask_for_another_login() {
    let hello = hello(|server| {
        server.send(&greeting("8.0.36", "caching_sha2_password")).unwrap();
        server.receive().unwrap();
        let other = b"ABCDEFGHIJKLMNOPQRST";
        server.send(&[b"\xfemysql_native_password\0", &other[..], &[0]].concat()).unwrap();
        assert_eq!(server.receive().unwrap(), scramble_native(other, b"secret").unwrap());
        server.send(OK).unwrap();
    });
    assert!(hello.is_ok(), "{hello:?}");
}

#[test]
fn the_password_is_never_sent_in_clear() {
    let hello = hello(|server| {
        server.send(&greeting("8.0.36", "mysql_native_password")).unwrap();
        server.receive().unwrap();
        server.send(b"\xfemysql_clear_password\0\0").unwrap();
        assert!(server.receive().is_err());
    });
    assert!(hello.unwrap_err().contains("use TLS"));
}

#[test]
fn what_is_no_server_of_mysql_is_told() {
    let hello = hello(|server| server.send(b"SSH-2.0").unwrap());
    assert!(hello.unwrap_err().contains("does not speak MySQL's protocol"));
}
