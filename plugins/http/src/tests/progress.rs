//! How much of an answer batches say is read.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use transship_plugin_api::{DirtyRecord, Host, Item, ReadOptions, Result, SplitRequest};

struct Quiet;

impl Host for Quiet {
    fn log(&self, _level: log::Level, _target: &str, _message: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        panic!("{record:?} is dirty")
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Gives each request the next of these answers, and the length of it if that is to be told.
fn answer(listener: &TcpListener, answers: &[&str], tells_length: bool) {
    for answer in answers {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let length = if tells_length { format!("content-length: {}\r\n", answer.len()) } else { String::new() };
        let text = format!("HTTP/1.1 200 OK\r\n{length}connection: close\r\n\r\n{answer}");
        // Whoever has gone has failed, and says so himself.
        let _ = stream.write_all(text.as_bytes());
    }
}

/// Comes instead of a reader that has failed, so that nobody waits for its requests.
struct Substitute(SocketAddr, usize);

impl Drop for Substitute {
    fn drop(&mut self) {
        for _ in 0..self.1 {
            let _ = TcpStream::connect(self.0);
        }
    }
}

/// The number of records in each batch, and what it says is read.
fn shares(answers: &[&str], tells_length: bool, more: Value) -> Vec<(usize, Option<f64>)> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut parameter = json!({ "url": format!("http://{address}/"), "retries": 0 });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    std::thread::scope(|scope| {
        scope.spawn(|| answer(&listener, answers, tells_length));
        let _substitute = Substitute(address, answers.len());
        let mut reader = crate::reader::new(&parameter, Arc::new(Quiet)).unwrap();
        reader.prepare().unwrap();
        let splits = reader.splits(&SplitRequest { channels: 1, max: 1 }).unwrap();
        let options = ReadOptions { batch_records: 50, ..ReadOptions::default() };
        let mut task = reader.open(&splits[0], &options, Arc::new(Quiet)).unwrap();
        task.prepare().unwrap();
        let mut told = Vec::new();
        while let Item::Batch(batch) = task.next(Duration::from_secs(10)).unwrap() {
            told.push((batch.num_rows(), batch.read_share));
        }
        told
    })
}

fn records(from: usize, count: usize) -> String {
    Value::from((from..from + count).map(|number| json!({ "id": number })).collect::<Vec<_>>()).to_string()
}

#[test]
fn the_share_of_an_answer_is_that_of_its_bytes() {
    let told = shares(&[&records(1_000, 500)], true, json!({}));
    assert_eq!(told.len(), 10);
    for (batch, (rows, share)) in told.into_iter().enumerate() {
        let expected = (batch + 1) as f64 / 10.0;
        assert!(rows == 50 && (share.unwrap() - expected).abs() < 0.01, "{share:?} instead of {expected}");
    }
}

#[test]
fn what_nobody_has_told_the_length_of_has_no_share() {
    let told = shares(&[&records(0, 100)], false, json!({}));
    assert_eq!(told, [(50, None), (50, None)]);
    // Of pages, nobody knows how many there are.
    let paging = json!({ "paging": { "by": "page" } });
    let told = shares(&[&records(0, 100), &records(100, 50), "[]"], true, paging);
    assert_eq!(told, [(50, None), (50, None), (50, None)]);
}
