//! Transformers one behind the other: however many there are and however much they add, little exists at once, and in order.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use arrow_schema::{DataType, Field, SchemaRef};
use serde_json::{Value, json};
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::{Batch, Result, Transformer};

use super::super::{Chain, Step, Tally};
use super::{FIRST, batch, make};
use crate::calls::Doing;
use crate::cancel::Cancel;
use crate::config::DirtyLimit;
use crate::dirty::{Dirty, Side};
use crate::host::{Source, Sources, TaskHost};
use crate::secrets::Secrets;

/// The size that a batch may grow to.
const LIMIT: usize = 4 << 20;

fn host() -> Arc<TaskHost> {
    let nowhere = std::env::temp_dir().join("transship-no-dirty-records");
    Arc::new(TaskHost {
        run: String::new(),
        sources: Sources::new(Arc::new(Source {
            task: String::new(),
            number: 0,
            attempt: 1,
            split: String::new(),
            unit: String::new(),
        })),
        side: Side::Transformer,
        plugin: String::new(),
        cancel: Cancel::new(),
        dirty: Arc::new(Dirty::new(DirtyLimit::default(), 0, vec![nowhere], Secrets::default())),
        count: AtomicU64::new(0),
        started: Mutex::default(),
        reach: Arc::default(),
        doing: Doing::default(),
    })
}

fn texts(texts: &[&str]) -> Batch {
    let mut batch = batch(Field::new("value", DataType::Utf8, true), Arc::new(StringArray::from_iter_values(texts)));
    batch.position = Some(json!("after"));
    batch
}

/// Built-in transformers of the column `value`, ready for batches of [`texts`].
fn built_in(transformers: &[(&str, Value)]) -> Chain {
    let steps =
        transformers.iter().map(|(name, paras)| make(name, &json!({ "columnIndex": 1, "paras": paras })).unwrap());
    chain(steps)
}

fn chain(steps: impl IntoIterator<Item = Box<dyn Step>>) -> Chain {
    let mut chain = Chain::default();
    let host = host();
    steps.into_iter().for_each(|step| chain.add("step", step, host.clone()));
    chain.schema(texts(&[]).schema()).unwrap();
    chain
}

/// All that comes out, and how many batches were waiting at once.
fn drained(chain: &mut Chain) -> (Vec<Batch>, usize) {
    let (mut out, mut most) = (Vec::new(), 0);
    while let Some(batch) = chain.next_batch().unwrap() {
        most = most.max(chain.waiting.len());
        out.push(batch);
    }
    (out, most)
}

fn values(batch: &mut Batch) -> Vec<String> {
    let column = batch.records().unwrap().column(1).as_string::<i32>().clone();
    (0..column.len()).map(|row| column.value(row).to_string()).collect()
}

/// The places of the records in what was put in.
fn places(batches: &[Batch]) -> Vec<u64> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.origin.position(row) - FIRST)).collect()
}

/// Passes every batch on twice, or holds it back until it is flushed, or passes its first record on three times and drops the others.
enum Odd {
    Twice,
    Hold(Vec<Batch>),
    Uneven { left_out: u64 },
}

impl Transformer for Odd {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        Ok(input)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        match self {
            Odd::Twice => out.extend([batch.slice(0, batch.num_rows())?, batch]),
            Odd::Hold(held) => held.push(batch),
            Odd::Uneven { left_out } => {
                *left_out += batch.num_rows() as u64 - 1;
                for _ in 0..3 {
                    out.push(batch.slice(0, 1)?);
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        if let Odd::Hold(held) = self {
            out.append(held);
        }
        Ok(())
    }
}

impl Step for Odd {
    fn left_out(&self) -> u64 {
        match self {
            Odd::Uneven { left_out } => *left_out,
            Odd::Twice | Odd::Hold(_) => 0,
        }
    }
}

#[test]
fn thousands_of_stages_need_no_more_stack_than_one() {
    let through = || {
        let stages: Vec<_> = (0..5_000).map(|_| ("dx_replace", json!(["0", "1", "y"]))).collect();
        let mut chain = built_in(&stages);
        chain.put(texts(&["xa", "xb"]));
        chain.put_flush();
        let (mut out, _) = drained(&mut chain);
        assert_eq!(out.iter_mut().flat_map(values).collect::<Vec<_>>(), ["ya", "yb"]);
        assert_eq!(places(&out), [0, 1]);
        assert_eq!(chain.tally(), Tally::default());
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(through).unwrap().join().unwrap();
}

#[test]
fn a_batch_goes_all_the_way_before_the_next_begins() {
    let mut chain = chain((0..10).map(|_| Box::new(Odd::Twice) as Box<dyn Step>));
    chain.put(texts(&["a", "b"]));
    chain.put(texts(&["c"]));
    let (mut out, most) = drained(&mut chain);
    assert_eq!(out.len(), 2 * 1024);
    // The other half of each stage, and the batch that was put in behind.
    assert_eq!(most, 10 + 1);
    assert_eq!(values(&mut out[1023]), ["a", "b"]);
    assert_eq!(values(&mut out[1024]), ["c"]);
    assert_eq!(chain.tally(), Tally { added: 3 * 1023, ..Tally::default() });
}

#[test]
fn what_is_added_and_what_is_left_out_are_both_counted() {
    let mut chain = chain([Box::new(Odd::Uneven { left_out: 0 }) as Box<dyn Step>]);
    chain.put(texts(&["a", "b", "c", "d"]));
    assert_eq!(drained(&mut chain).0.len(), 3);
    assert_eq!(chain.tally(), Tally { added: 2, filtered: 3, ..Tally::default() });
}

#[test]
fn what_is_held_back_goes_through_the_stages_behind_in_order() {
    let hold = || Box::new(Odd::Hold(Vec::new())) as Box<dyn Step>;
    let mut chain = chain([hold(), Box::new(Odd::Twice), hold()]);
    chain.put(texts(&["a"]));
    chain.put(texts(&["b"]));
    assert!(drained(&mut chain).0.is_empty());
    chain.put_flush();
    let (mut out, _) = drained(&mut chain);
    assert_eq!(out.iter_mut().flat_map(values).collect::<Vec<_>>(), ["a", "a", "b", "b"]);
    chain.put_flush();
    assert!(drained(&mut chain).0.is_empty(), "nothing comes twice");
}

#[test]
fn a_batch_that_grows_comes_out_in_pieces_that_stay_small() {
    let written: Vec<String> = (0..200).map(|row| row.to_string()).collect();
    let written: Vec<&str> = written.iter().map(String::as_str).collect();
    let grown = [
        ("dx_pad", json!(["l", "300000", "0"])),
        ("dx_pad", json!(["r", "100000", "码"])),
        ("dx_replace", json!(["0", "0", "z".repeat(300_000)])),
    ];
    for transformer in grown {
        let mut chain = built_in(std::slice::from_ref(&transformer));
        chain.put(texts(&written));
        let (mut out, most) = drained(&mut chain);
        assert!(most <= 1, "the rest of the batch is not looked at before it is needed");
        assert!((15..40).contains(&out.len()), "{} pieces", out.len());
        assert!(out.iter().all(|piece| piece.bytes <= LIMIT));
        assert!(out.iter_mut().all(|piece| piece.bytes == byte_size(piece.records().unwrap())));
        assert_eq!(places(&out), (0..200).collect::<Vec<_>>());
        let positions: Vec<bool> = out.iter().map(|piece| piece.position.is_some()).collect();
        assert_eq!(positions.iter().rposition(|there| !there), Some(out.len() - 2), "only the last has the position");
        assert!(positions[out.len() - 1]);
        let last = values(out.last_mut().unwrap()).pop().unwrap();
        assert!(last.contains("199") && last.len() > 299_000, "{}", last.len());
    }
}

#[test]
fn what_many_stages_add_is_bounded_as_well() {
    let stages: Vec<_> = (0..40).map(|_| ("dx_replace", json!(["0", "0", "z".repeat(1_000)]))).collect();
    let mut chain = built_in(&stages);
    chain.put(texts(&["a"; 1_000]));
    let (out, most) = drained(&mut chain);
    assert!(out.iter().all(|piece| piece.bytes <= LIMIT));
    assert!(most <= 40, "{most} batches wait at once");
    assert_eq!(places(&out), (0..1_000).collect::<Vec<_>>());
}

#[test]
fn a_record_that_is_larger_than_a_batch_may_grow_stands_alone() {
    let mut chain = built_in(&[("dx_pad", json!(["l", "5000000", "0"]))]);
    chain.put(texts(&["a", "b", "c"]));
    let (out, _) = drained(&mut chain);
    assert_eq!(out.iter().map(Batch::num_rows).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(places(&out), [0, 1, 2]);
}

#[test]
fn a_batch_that_cannot_grow_much_stays_whole() {
    let whole = [
        ("dx_pad", json!(["l", "16", "0"])),
        ("dx_replace", json!(["0", "4", "****"])),
        ("dx_digest", json!(["sha1", "toLowerCase"])),
    ];
    let mut chain = built_in(&whole);
    chain.put(texts(&["13800000000"; 8192]));
    assert_eq!(drained(&mut chain).0.len(), 1);
    // Nothing is added here, however large the batch is.
    let mut chain = built_in(&[("dx_substr", json!(["0", "999999"]))]);
    chain.put(texts(&["x".repeat(1 << 20).as_str(); 8]));
    assert_eq!(drained(&mut chain).0.len(), 1);
}

#[test]
fn the_other_columns_are_shared_through_all_stages() {
    let mut chain = built_in(&[("dx_pad", json!(["l", "9", "0"])), ("dx_substr", json!(["1", "8"]))]);
    let mut before = texts(&["a", "b"]);
    let columns = before.records().unwrap().columns().to_vec();
    chain.put(before);
    let mut after = chain.next_batch().unwrap().unwrap();
    let after = after.records().unwrap();
    assert!(Arc::ptr_eq(&columns[0], after.column(0)) && Arc::ptr_eq(&columns[2], after.column(2)));
}
