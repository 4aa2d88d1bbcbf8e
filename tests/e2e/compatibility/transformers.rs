//! Traps of the transformers that are DataX's own, seen from outside: what becomes of records that go through them.

use transship_tests::records::text;
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{constants, file, printed, printer, run, sorted};

fn transformer(name: &str, column: u32, paras: Value) -> Value {
    plugin(name, json!({ "columnIndex": column, "paras": paras }))
}

/// Traps 39, 40.
#[test]
fn paras_may_be_numbers_and_every_record_has_every_column() {
    let scratch = Scratch::new();
    scratch.write("in.txt", "abcdef,1\nxyz\n");
    let substr = transformer("dx_substr", 1, json!([0, 1]));
    let run = run(&scratch, &Job::new(file("in.txt", &["string", "long"]), printer()).transformer(substr)).succeeds();
    assert_eq!(run.stdout, "abcdef\t1\n");
    let dirty = scratch.dirty_records();
    assert_eq!((dirty.len(), text(&dirty[0], "/side")), (1, "reader"), "the short line, where it is read: {run}");
}

/// Trap 41.
#[test]
fn a_filter_drops_what_matches() {
    let kept = |paras: Value| {
        let scratch = Scratch::new();
        scratch.write("in.txt", "anna,1\nbob,2\n\\N,\\N\n");
        let mut reader = file("in.txt", &["string", "long"]);
        reader["parameter"]["nullFormat"] = json!("\\N");
        let column = u32::from(paras[1] == "1");
        let job = Job::new(reader, printer()).transformer(transformer("dx_filter", column, paras));
        let kept = sorted(&run(&scratch, &job).succeeds());
        kept.iter().map(|line| line.split('\t').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(kept(json!(["like", "a.*"])), ["bob", "null"]);
    assert_eq!(kept(json!(["like", "a"])), ["anna", "bob", "null"], "the whole text, not a part");
    assert_eq!(kept(json!(["not like", "a.*"])), ["anna"]);
    assert_eq!(kept(json!([">", "1"])), ["anna", "null"]);
    assert_eq!(kept(json!(["=", "null"])), ["anna", "bob"]);
    assert_eq!(kept(json!(["!=", "1"])), ["anna"]);
}

/// Trap 46.
#[test]
fn a_position_is_a_utf_16_unit_and_no_character_is_cut_in_half() {
    let scratch = Scratch::new();
    scratch.write("in.txt", "汉字x\n😀x\nx😀\n");
    let substr = transformer("dx_substr", 0, json!(["0", "2"]));
    let run = run(&scratch, &Job::new(file("in.txt", &["string"]), printer()).transformer(substr)).succeeds();
    assert_eq!(sorted(&run), ["汉字", "😀"]);
    let dirty = scratch.dirty_records();
    assert_eq!((dirty.len(), text(&dirty[0], "/value")), (1, "x😀"));
}

/// Trap 47.
#[test]
fn what_a_transformer_makes_of_one_record_does_not_change_the_next() {
    let reader = || constants(4, json!([{ "value": "ab" }]));
    let replace = Job::new(reader(), printer()).transformer(transformer("dx_replace", 0, json!(["0", "0", "x"])));
    assert_eq!(printed(&replace), ["xab"; 4]);
    let digest = || transformer("dx_digest", 0, json!(["md5", "toLowerCase"]));
    let twice = Job::new(reader(), printer()).transformer(digest()).transformer(digest());
    let once = Job::new(constants(1, json!([{ "value": "187ef4436122d1cc2f40dc2b92f0eba0" }])), printer());
    let expected = printed(&once.transformer(digest()));
    assert_eq!(printed(&twice), [expected[0].as_str(); 4]);
}
