//! Questions and answers without a client, and clients that ask nothing.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;
use crate::progress::Progress;

fn ask(method: Method, path: &str, accept: Option<&str>) -> Response<String> {
    let progress = Progress::default();
    let exposition = Exposition::new([("orders", &progress)], Box::new(str::to_string));
    let mut request = Request::builder().method(method).uri(path);
    if let Some(accept) = accept {
        request = request.header(ACCEPT, accept);
    }
    answer(&request.body(()).unwrap(), &exposition)
}

#[test]
fn metrics_come_in_the_format_that_is_asked_for() {
    let plain = ask(Method::GET, "/metrics?collect=all", None);
    assert_eq!(plain.status(), StatusCode::OK);
    assert_eq!(plain.headers()[CONTENT_TYPE], Format::Plain.content_type());
    assert!(plain.body().contains("\ntransship_read_records_total{job_name=\"orders\"} 0\n"), "{}", plain.body());
    let open = ask(Method::GET, "/metrics", Some("application/openmetrics-text"));
    assert_eq!(open.headers()[CONTENT_TYPE], Format::OpenMetrics.content_type());
    assert!(open.body().ends_with("# EOF\n"), "{}", open.body());
}

#[test]
fn other_paths_and_other_methods_are_told_from_each_other() {
    assert!(ask(Method::GET, "/", None).body().contains("/metrics"));
    for (method, path, status) in [
        (Method::GET, "/metrics/", StatusCode::NOT_FOUND),
        (Method::POST, "/elsewhere", StatusCode::NOT_FOUND),
        (Method::POST, "/metrics", StatusCode::METHOD_NOT_ALLOWED),
        (Method::DELETE, "/", StatusCode::METHOD_NOT_ALLOWED),
        (Method::HEAD, "/metrics", StatusCode::OK),
    ] {
        let answer = ask(method, path, None);
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(answer.headers().contains_key(ALLOW), status == StatusCode::METHOD_NOT_ALLOWED);
    }
}

fn any_port() -> Door {
    Door::open(&Address { host: "127.0.0.1".into(), port: 0 }).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).unwrap()
}

#[test]
fn more_silent_clients_than_are_let_in_hold_up_nothing() {
    let door = any_port();
    let address = door.address;
    let progress = Progress::default();
    let exposition = Exposition::new([("orders", &progress)], Box::new(str::to_string));
    let (clients, ended) = door.serve(&exposition, || {
        let clients: Vec<TcpStream> = (0..2 * MOST_CONNECTIONS).map(|_| connect(address)).collect();
        // Half a question is no question.
        for mut client in clients.iter().step_by(2) {
            client.write_all(b"GET /metrics HTTP/1.1\r\nHost: ").unwrap();
        }
        (clients, Instant::now())
    });
    assert!(ended.elapsed() < LONGEST_CONNECTION / 2, "the end waited for them");
    for mut client in clients {
        client.set_read_timeout(Some(LONGEST_CONNECTION)).unwrap();
        match client.read(&mut [0; 1]) {
            Ok(read) => assert_eq!(read, 0, "there is no answer to no question"),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn who_keeps_silent_is_sent_away_and_makes_room_for_others() {
    let door = any_port();
    let address = door.address;
    let progress = Progress::default();
    let exposition = Exposition::new([("orders", &progress)], Box::new(str::to_string));
    door.serve(&exposition, || {
        let _silent: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| connect(address)).collect();
        let mut client = connect(address);
        client.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    });
}

#[test]
fn the_server_ends_also_where_the_work_panics() {
    let door = any_port();
    let address = door.address;
    let exposition = Exposition::new([], Box::new(str::to_string));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        door.serve(&exposition, || panic!("on purpose"));
    }));
    assert!(outcome.is_err() && TcpStream::connect(address).is_err());
}

#[test]
fn a_port_that_is_taken_is_refused_and_loopback_is_for_this_machine_alone() {
    let door = any_port();
    assert!(door.is_for_this_machine() && door.url().ends_with("/metrics"), "{}", door.url());
    let taken = Address { host: "127.0.0.1".into(), port: door.address.port() };
    assert!(Door::open(&taken).is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse));
    let everywhere = Door::open(&Address { host: "0.0.0.0".into(), port: 0 }).unwrap();
    assert!(!everywhere.is_for_this_machine());
}
