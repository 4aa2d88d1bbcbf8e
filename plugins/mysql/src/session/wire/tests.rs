//! Packets over a real socket.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use transship_plugin_api::{DirtyRecord, Host};

use super::*;

struct Quiet;

impl Host for Quiet {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, _: &DirtyRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn pair() -> (Wire, Wire) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    let wire = |socket| Wire::new(socket, Stop::new(Arc::new(Quiet)), None).unwrap();
    (wire(one), wire(other))
}

/// Bytes of which those that move would be seen.
fn payload(length: usize) -> Vec<u8> {
    let mut bytes = vec![7; length];
    bytes.iter_mut().step_by(4_093).enumerate().for_each(|(index, byte)| *byte = (index % 251) as u8);
    bytes
}

#[test]
fn payloads_of_any_size_arrive_as_they_were_sent() {
    let (mut one, mut other) = pair();
    let sizes = [0, 1, 5, ROOM - HEADER, ROOM, LONGEST, LONGEST + 1, 2 * LONGEST, 3, 0, 70_000];
    std::thread::scope(|scope| {
        scope.spawn(move || sizes.iter().for_each(|size| one.send(&payload(*size)).unwrap()));
        for size in sizes {
            assert!(other.receive().unwrap() == payload(size), "{size} bytes");
        }
    });
}

#[test]
fn waiting_in_vain_loses_nothing() {
    let (mut one, mut other) = pair();
    let sent = payload(1000);
    let packet = [&1000u32.to_le_bytes()[..3], &[0], &sent[..]].concat();
    one.write_all(&packet[..500]).unwrap();
    assert!(other.receive_within(Duration::from_millis(1)).unwrap().is_none());
    one.write_all(&packet[500..]).unwrap();
    assert_eq!(other.receive_within(Duration::from_secs(10)).unwrap(), Some(&sent[..]));
}

#[test]
fn a_connection_that_was_closed_is_worth_another_attempt() {
    let (one, mut other) = pair();
    drop(one);
    let error = other.receive().unwrap_err();
    assert!(error.is_retryable(), "{error}");
}

#[test]
fn a_silence_longer_than_allowed_is_an_error() {
    let (_one, mut other) = pair();
    other.patience = Some(Duration::from_millis(100));
    assert!(other.receive().unwrap_err().message().contains("socketTimeout"));
}
