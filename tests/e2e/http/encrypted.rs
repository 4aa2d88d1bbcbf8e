//! Encrypted connections: whom we trust, and whom not.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use transship_tests::{Scratch, json, until};

use super::{printing, run};

/// A server of files that speaks TLS, until it is dropped.
struct Encrypted {
    process: Child,
    port: u16,
}

impl Encrypted {
    /// Serves the files of a folder, with a certificate for localhost that nobody else has signed: `server.pem`.
    fn start(scratch: &Scratch) -> Encrypted {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
            .args(["-keyout", "server.key", "-out", "server.pem"])
            .current_dir(scratch.folder())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new("openssl")
            .args(["s_server", "-quiet", "-WWW", "-cert", "server.pem", "-key", "server.key", "-accept"])
            .arg(format!("127.0.0.1:{port}"))
            .current_dir(scratch.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the server", || TcpStream::connect(("127.0.0.1", port)).ok());
        Encrypted { process, port }
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_is_trusted_by_its_certificate_alone() {
    let scratch = Scratch::new();
    let server = Encrypted::start(&scratch);
    scratch.write("records.json", r#"[{"id": 1}, {"id": 2}]"#);
    let root = scratch.path("server.pem");
    let read = |host: &str, more: transship_tests::Value| {
        let mut parameter = json!({ "url": format!("https://{host}:{}/records.json", server.port), "retries": 0, "column": [{ "name": "id" }] });
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run(&scratch, &printing(parameter))
    };
    assert_eq!(read("localhost", json!({ "caFile": root })).succeeds().stdout, "1\n2\n");
    read("localhost", json!({})).fails_with(1).says(["can't reach https://localhost:", "invalid peer certificate"]);
    read("127.0.0.1", json!({ "caFile": root }))
        .fails_with(1)
        .says(["invalid peer certificate: certificate not valid for name"]);
    assert_eq!(read("127.0.0.1", json!({ "checkCertificate": false })).succeeds().stdout, "1\n2\n");
    read("localhost", json!({ "caFile": "records.json" }))
        .fails_with(1)
        .says(["parameter.caFile is \"records.json\", which holds no certificate"]);
    read("localhost", json!({ "caFile": "missing.pem" }))
        .fails_with(1)
        .says(["parameter.caFile is \"missing.pem\": No such file"]);
}
