//! Lookups behind the tables: calls and answers in any order and from any thread, answers that come twice, late or never, panics, and
//! what breaks the contract.

use std::mem::size_of;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::{Value, json};

use super::fixtures::{in_process, some_host};
use crate::ffi::abi::{TS_LOOKUP_EXTENSION, TS_OK, TsFailedKey, TsFound, TsLookupHost};
use crate::ffi::arrow::{Trust, export};
use crate::ffi::calls::Calls;
use crate::ffi::host::ExportedHost;
use crate::lookup::{Answer, Found, Lookup};
use crate::{Error, HostRef, Kind, Plugin, Result};

fn columns() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("twice", DataType::Int64, true)]))
}

fn key(keys: &[i64]) -> RecordBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
    RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(keys.to_vec()))]).unwrap()
}

fn rows(values: &[i64]) -> RecordBatch {
    RecordBatch::try_new(columns(), vec![Arc::new(Int64Array::from(values.to_vec()))]).unwrap()
}

/// Does with a call what its first key says.
struct Odd {
    held: Mutex<Vec<Answer>>,
}

impl Lookup for Odd {
    fn prepare(&mut self, keys: SchemaRef) -> Result<SchemaRef> {
        match keys.field(0).name().as_str() {
            "id" => Ok(columns()),
            other => Err(Error::schema(format!("no {other}"))),
        }
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        let keys = keys.column(0).as_primitive::<Int64Type>().values().to_vec();
        match keys[0] {
            -1 => answer.fail(Error::connect("nobody is there").retryable(true)),
            -2 => drop(answer),
            -3 => panic!("odd {keys:?}"),
            -4 => self.held.lock().unwrap().push(answer),
            -5 => answer.complete(Found::new(rows(&[1]), vec![0, 1])),
            -6 => answer.complete(Found::one_each(key(&[1]))),
            -7 => {
                let mut found = Found::new(rows(&[5, 6]), vec![1, 1]);
                found.failed.push((0, Error::data("minus seven").retryable(true)));
                answer.complete(found);
            }
            -8 => answer.complete(Found::nothing(columns())),
            _ => answer.complete(Found::one_each(rows(&keys.iter().map(|key| key * 2).collect::<Vec<_>>()))),
        }
    }

    fn most_keys(&self) -> usize {
        17
    }

    fn cancel(&self) {
        for answer in self.held.lock().unwrap().drain(..) {
            answer.fail(Error::cancelled());
        }
    }
}

fn new_odd(_: &Value, _: HostRef) -> Result<Box<dyn Lookup>> {
    Ok(Box::new(Odd { held: Mutex::default() }))
}

fn odd() -> Box<dyn Lookup> {
    let plugin = in_process!(Plugin::new("odd", "1").lookup(&["odd"], "Odd.", &[], new_odd));
    assert_eq!(plugin.description().lookups[0].names, ["odd"]);
    let mut lookup = plugin.lookup("odd", &json!({}), some_host()).unwrap();
    assert_eq!(lookup.prepare(key(&[]).schema()).unwrap(), columns());
    lookup
}

type Told = Arc<Mutex<Vec<Result<Found>>>>;

fn ask(lookup: &dyn Lookup, keys: &[i64]) -> Told {
    let told = Told::default();
    let tell = told.clone();
    lookup.start(key(keys), Answer::new(move |outcome: Result<Found>| tell.lock().unwrap().push(outcome)));
    told
}

fn only(told: &Told) -> Result<Found> {
    let mut told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "one answer");
    told.remove(0)
}

fn error(lookup: &dyn Lookup, first: i64) -> Error {
    only(&ask(lookup, &[first])).unwrap_err()
}

#[test]
fn rows_their_keys_and_failures_arrive_as_they_were_given() {
    let lookup = odd();
    assert_eq!(lookup.most_keys(), 17);
    let found = only(&ask(lookup.as_ref(), &[1, 2, 3])).unwrap();
    assert_eq!((found.rows, found.key_of_row, found.failed.len()), (rows(&[2, 4, 6]), vec![0, 1, 2], 0));
    let found = only(&ask(lookup.as_ref(), &[-7, 2])).unwrap();
    assert_eq!((found.rows, found.key_of_row), (rows(&[5, 6]), vec![1, 1]));
    let (key, why) = &found.failed[0];
    assert_eq!((*key, why.kind(), why.message(), why.is_retryable()), (0, Kind::Data, "minus seven", true));
    let found = only(&ask(lookup.as_ref(), &[-8])).unwrap();
    assert_eq!((found.rows.num_rows(), found.rows.schema()), (0, columns()));
}

#[test]
fn whatever_becomes_of_a_call_it_is_told_once() {
    let lookup = odd();
    let failed = error(lookup.as_ref(), -1);
    assert_eq!((failed.kind(), failed.message(), failed.is_retryable()), (Kind::Connect, "nobody is there", true));
    assert_eq!(error(lookup.as_ref(), -2).message(), "the lookup dropped its call and gave no answer");
    let panicked = error(lookup.as_ref(), -3);
    assert!(panicked.kind() == Kind::Internal && panicked.message().contains("odd [-3]"), "{panicked}");
    assert_eq!(error(lookup.as_ref(), -5).message(), "the lookup found 1 rows, but told the keys of 2");
    // Names may differ, types may not.
    assert!(only(&ask(lookup.as_ref(), &[-6])).is_ok());
}

#[test]
fn a_call_that_is_held_is_told_at_the_cancel_or_at_the_release() {
    let lookup = odd();
    let held = ask(lookup.as_ref(), &[-4]);
    assert!(held.lock().unwrap().is_empty());
    lookup.cancel();
    assert_eq!(only(&held).unwrap_err().kind(), Kind::Cancelled);
    let held = ask(lookup.as_ref(), &[-4]);
    drop(lookup);
    assert_eq!(only(&held).unwrap_err().message(), "the lookup dropped its call and gave no answer");
}

#[test]
fn many_threads_may_ask_at_once() {
    let lookup = odd();
    thread::scope(|scope| {
        for from in 0..4 {
            let lookup = &lookup;
            scope.spawn(move || {
                for key in 0..100 {
                    let found = only(&ask(lookup.as_ref(), &[from * 100 + key])).unwrap();
                    assert_eq!(found.rows, rows(&[2 * (from * 100 + key)]));
                }
            });
        }
    });
}

#[test]
fn what_cannot_be_made_or_prepared_says_why() {
    let plugin = in_process!(Plugin::new("odd", "1").lookup(&["odd"], "Odd.", &[], new_odd));
    let unknown = plugin.lookup("even", &json!({}), some_host()).err().unwrap();
    assert_eq!(unknown.message(), "the plugin odd has no lookup named \"even\"");
    let mut lookup = plugin.lookup("odd", &json!({}), some_host()).unwrap();
    let told = ask(lookup.as_ref(), &[1]);
    assert_eq!(only(&told).unwrap_err().message(), "a lookup was asked for rows before it was prepared");
    let other = Arc::new(Schema::new(vec![Field::new("name", DataType::Utf8, true)]));
    assert_eq!(lookup.prepare(other).unwrap_err().message(), "no name");
    assert_eq!(lookup.prepare(key(&[]).schema()).unwrap_err().message(), "a lookup was prepared twice");

    let none = in_process!(Plugin::new("none", "1"));
    assert!(none.extension(TS_LOOKUP_EXTENSION).is_none());
    assert_eq!(none.lookup("odd", &json!({}), some_host()).err().unwrap().kind(), Kind::Unsupported);
}

/// The engine's half, as a plugin in C sees it: a host, and calls that are open on it.
struct Raw {
    calls: Arc<Calls>,
    host: ExportedHost,
}

impl Raw {
    fn new() -> Raw {
        let calls = Calls::new(Trust::Untrusted);
        calls.expect(columns());
        Raw { host: ExportedHost::with_calls(some_host(), calls.clone()), calls }
    }

    fn begin(&self) -> (u64, Told) {
        let told = Told::default();
        let tell = told.clone();
        let answer = Answer::new(move |outcome: Result<Found>| tell.lock().unwrap().push(outcome));
        (self.calls.begin(answer).unwrap(), told)
    }

    fn table(&self) -> &TsLookupHost {
        let host = self.host.table();
        let id = TS_LOOKUP_EXTENSION;
        // SAFETY: the host is alive, and its extension as long as it is.
        unsafe {
            let get = (*host).get_extension.unwrap();
            assert!(get(host, ptr::null(), 0).is_null() && get(host, b"transship.none/1".as_ptr(), 16).is_null());
            &*get(host, id.as_ptr(), id.len()).cast()
        }
    }

    /// Completes a call, and tells whether the rows were taken.
    fn complete(&self, call: u64, values: &[i64], key_of_row: *const u32, failed: &[TsFailedKey]) -> bool {
        let mut found = TsFound {
            size: size_of::<TsFound>(),
            rows: export(rows(values)).unwrap(),
            key_of_row,
            failed: failed.as_ptr(),
            n_failed: failed.len(),
        };
        // SAFETY: the host is alive, and what was found outlives the call.
        unsafe { self.table().complete.unwrap()(self.host.table(), call, &mut found) };
        found.rows.is_released()
    }

    fn fail(&self, call: u64, kind: i32) {
        // SAFETY: the host is alive; a message may be absent.
        unsafe { self.table().fail.unwrap()(self.host.table(), call, kind, 1, ptr::null(), 9) };
    }

    fn is_wanted(&self, call: u64) -> bool {
        // SAFETY: the host is alive.
        unsafe { self.table().is_wanted.unwrap()(self.host.table(), call) == 1 }
    }
}

#[test]
fn the_first_answer_counts_and_others_touch_nothing() {
    let raw = Raw::new();
    let (call, told) = raw.begin();
    assert!(raw.is_wanted(call) && !raw.is_wanted(call + 1));
    assert!(raw.complete(call, &[1], ptr::null(), &[]));
    assert!(!raw.complete(call, &[2], ptr::null(), &[]), "the rows stay with who offers them");
    raw.fail(call, 3);
    assert!(!raw.is_wanted(call) && !raw.complete(99, &[2], ptr::null(), &[]));
    let found = only(&told).unwrap();
    assert_eq!((found.rows, found.key_of_row), (rows(&[1]), vec![0]), "without keys, row i is key i's");
}

#[test]
fn threads_that_answer_one_call_at_once_are_told_nothing_and_one_of_them_counts() {
    let raw = Raw::new();
    for _ in 0..200 {
        let (call, told) = raw.begin();
        thread::scope(|scope| {
            scope.spawn(|| raw.complete(call, &[1], ptr::null(), &[]));
            scope.spawn(|| raw.fail(call, 2));
            scope.spawn(|| raw.is_wanted(call));
        });
        assert_eq!(told.lock().unwrap().len(), 1);
    }
}

#[test]
fn answers_that_break_the_contract_are_failures() {
    let raw = Raw::new();
    let after = |answer: &dyn Fn(u64)| {
        let (call, told) = raw.begin();
        answer(call);
        only(&told).unwrap_err().message().to_string()
    };
    // SAFETY: a null pointer is what is tried out here.
    let null = after(&|call| unsafe { raw.table().complete.unwrap()(raw.host.table(), call, ptr::null_mut()) });
    assert!(null.starts_with("the lookup answered with nothing"), "{null}");
    let misaligned = std::ptr::without_provenance::<u32>(1);
    let keys = after(&|call| assert!(raw.complete(call, &[1], misaligned, &[])));
    assert!(keys.contains("not aligned"), "{keys}");
    assert_eq!(after(&|call| raw.fail(call, 2)), "the lookup failed (connect) and did not say why");
    assert_eq!(after(&|call| raw.fail(call, TS_OK)), "the lookup failed (internal) and did not say why");
    let released = after(&|call| {
        let mut found = TsFound {
            size: size_of::<TsFound>(),
            rows: arrow_data::ffi::FFI_ArrowArray::empty(),
            key_of_row: ptr::null(),
            failed: ptr::null(),
            n_failed: 0,
        };
        // SAFETY: an array that was never made is what is tried out here.
        unsafe { raw.table().complete.unwrap()(raw.host.table(), call, &mut found) };
    });
    assert!(released.contains("a malformed batch"), "{released}");
}

#[test]
fn a_release_answers_what_is_open_and_nothing_comes_after_it() {
    let raw = Raw::new();
    let (call, told) = raw.begin();
    raw.calls.close();
    assert_eq!(only(&told).unwrap_err().message(), "the lookup dropped its call and gave no answer");
    assert!(!raw.complete(call, &[1], ptr::null(), &[]));
    assert!(raw.calls.begin(Answer::new(|_: Result<Found>| ())).is_none());
}

/// Calls that the engine has given up and that nobody ever answers are forgotten.
#[test]
fn calls_that_nobody_wants_do_not_pile_up() {
    struct Unwanted;
    impl crate::lookup::Call for Unwanted {
        fn answered(self: Box<Self>, _: Result<Found>) {}
        fn is_wanted(&self) -> bool {
            false
        }
    }
    let raw = Raw::new();
    let (wanted, told) = raw.begin();
    for _ in 0..100_000 {
        raw.calls.begin(Answer::new(Unwanted)).unwrap();
    }
    assert!(raw.calls.count() < 3_000);
    assert!(raw.complete(wanted, &[1], ptr::null(), &[]));
    assert!(only(&told).is_ok());
}
