//! Which part is called the limit, and what is advised.

use super::*;

/// A phase of an attempt at this task.
fn of_task(number: u32, name: &str, seconds: f64) -> String {
    phase(name, 2.0, seconds).replacen('{', &format!(r#"{{"task":"t{number}","attempt":1,"#), 1)
}

/// The same, and how long its thread had a CPU and waited for one.
fn with_cpu(line: String, used: f64, waited: f64) -> String {
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    line.replacen('{', &format!(r#"{{"cpu_nanos":{},"cpu_wait_nanos":{},"#, nanos(used), nanos(waited)), 1)
}

/// A task of ten seconds that read for so long, with so much of a CPU and so much waiting for one, and wrote for so long.
fn task(number: u32, reading: f64, cpu: (f64, f64), writing: f64) -> Vec<String> {
    let phases = [
        of_task(number, "READ_TASK_INIT", 0.0),
        with_cpu(of_task(number, "READ_TASK_DATA", reading), cpu.0, cpu.1),
        with_cpu(of_task(number, "WRITE_TASK_DATA", 10.0), writing, 0.0),
        of_task(number, "WAIT_READ_TIME", 10.0 - writing),
    ];
    attempt(number, "done", 10.0).into_iter().chain(phases).collect()
}

/// A run in which records moved for ten seconds.
fn run(tasks: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let moved = [phase("JOB_SCHEDULE", 2.0, 10.0), END.into()];
    tasks.into_iter().flatten().chain(moved).collect()
}

#[track_caller]
fn says(told: &Diagnosis, part: Part, words: &str) {
    assert_eq!(told.limit.part, part, "{:?}", told.limit);
    assert!(told.limit.sentence.contains(words), "{:?}", told.limit);
}

#[test]
fn a_reader_that_gets_no_cpu_waits_for_no_source() {
    let told = |cpu| told_of(&run([task(0, 9.8, cpu, 0.2)]));
    let starved = told((1.0, 8.6));
    says(&starved, Part::Cpu, "threads that could run waited for a CPU for 86 % of the time");
    is_about(0.86, starved.limit.share);
    says(&told((1.0, 0.1)), Part::Reader, "it waits for its source nearly all of that time");
    // Not enough to be the limit, and too much for a thread that waits for its source.
    let some = told((1.0, 2.0));
    says(&some, Part::Reader, "the reader is the limit: 98 % of wall; ");
    // It waits for its source more than for a CPU.
    says(&told((0.5, 4.0)), Part::Reader, "the reader");
}

#[test]
fn a_run_that_uses_all_cores_needs_no_more_channels() {
    let told = |cores: u64| {
        let host = format!(r#""host":{{"cores":{cores}}},"#);
        told_with(&host, &run([task(0, 9.8, (9.0, 0.1), 0.5), task(1, 9.8, (9.0, 0.1), 0.5)]))
    };
    says(&told(2), Part::Cpu, "the run itself used 95 % of all 2 cores; more channels would not help");
    says(&told(4), Part::Reader, "the reader");
}

#[test]
fn a_target_that_takes_a_task_at_a_time_is_the_limit_however_many_wait_for_it() {
    // Each has the target for its part of the ten seconds; readers run ahead.
    let told = |fields: &str, channels: u32| {
        let writing = 9.6 / f64::from(channels);
        let waiting = |number| f64::from(number) * writing;
        let task = |number| {
            let mut lines = task(number, 7.0, (6.0, 0.0), writing);
            lines.push(of_task(number, "WAIT_TURN_TIME", waiting(number)));
            lines
        };
        told_with(fields, &run((0..channels).map(task)))
    };
    let sentence = "the target is the limit: it takes one task at once and was busy for 96 % of wall; more channels would not help";
    for channels in [2, 4] {
        says(&told("", channels), Part::Target, sentence);
    }
    assert_ne!(told(r#""target_tasks":4,"#, 2).limit.part, Part::Target, "it could take more");
}

#[test]
fn a_reader_that_runs_ahead_into_its_channel_is_not_the_limit() {
    let told = |queued: u64| {
        let spent = r#"{"READ_TASK_INIT":0,"READ_TASK_DATA":9900000000,"TASK_TOTAL":10000000000}"#;
        let writers = r#"{"WRITE_TASK_DATA":9600000000,"TASK_TOTAL":10000000000}"#;
        let second = format!(
            r#"{{"type":"second","micros":12000000,"read_records":1000,"read_bytes":4,"written_records":2,"queued_records":{queued},"queued_bytes":1,"fill":0.25,"open_tasks":1,"tasks_known":1,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0,"open_readers_nanos":{spent},"open_writers_nanos":{writers}}}"#
        );
        let [begin, _] = attempt(0, "open", 0.0);
        told_of(&[phase("JOB_PREPARE", 1.0, 1.0), begin, second])
    };
    says(&told(430), Part::Writer, "the writer is the limit");
    says(&told(20), Part::Reader, "the reader is the limit");
}

#[test]
fn what_comes_after_the_commit_is_a_part() {
    let tuning = r#""tuning":{"reader":[],"writer":["preSql","postSql"]},"#;
    let told = |fields: &str, post: f64, destroy: f64| {
        let after = [phase("JOB_POST", 12.0, post), phase("JOB_DESTROY", 12.0 + post, destroy)];
        told_with(fields, &[run([]), after.into()].concat())
    };
    says(
        &told(tuning, 490.0, 0.0),
        Part::Post,
        "what comes after the commit is the limit: 98 % of wall; look at postSql",
    );
    says(&told("", 490.0, 0.0), Part::Post, "look at what source and target do then");
    says(&told(tuning, 0.0, 490.0), Part::Post, "let go");
}

#[test]
fn a_run_that_was_killed_spent_the_rest_of_its_time_in_the_phase_that_had_not_ended() {
    let second = |micros: u64| {
        format!(
            r#"{{"type":"second","micros":{micros},"read_records":0,"read_bytes":0,"written_records":0,"queued_records":0,"queued_bytes":0,"fill":0,"open_tasks":0,"tasks_known":0,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0}}"#
        )
    };
    let ended = [phase("JOB_PREPARE", 1.0, 1.0), phase("JOB_SCHEDULE", 2.0, 1.0), phase("JOB_COMMIT", 3.0, 1.0)];
    let expected = [Part::Prepare, Part::None, Part::Commit, Part::Post];
    for (count, part) in expected.into_iter().enumerate() {
        let told = told_of(&[ended[..count].to_vec(), vec![second(9_000_000)]].concat());
        assert_eq!(told.limit.part, part, "{count} had ended: {told:?}");
        is_about(8.0, told.wall_seconds);
    }
}

#[test]
fn advice_names_only_what_reader_and_writer_have() {
    let told = |fields: &str, reading, writing| {
        told_with(fields, &run([task(0, reading, (5.0, 0.0), writing)])).limit.sentence
    };
    let known = r#""plan":{"channels":1},"tuning":{"reader":["splitPk","splitFactor","fetchSize"],"writer":["batchSize","preSql"]},"#;
    let unknown = r#""plan":{"channels":1},"tuning":{"reader":[],"writer":[]},"#;
    let more = "there was one task, and more channels only help with more splits";
    let reader = "the reader is the limit: 98 % of wall; ";
    assert_eq!(told(known, 9.8, 0.2), format!("{reader}{more} (splitPk, splitFactor); raise fetchSize; ask for less"));
    assert_eq!(told(unknown, 9.8, 0.2), format!("{reader}{more}; ask for less"));
    let writer = "the writer is the limit: 99 % of wall; ";
    let indexes = "drop indexes while loading";
    assert_eq!(told(known, 9.0, 9.9), format!("{writer}{more} (splitPk, splitFactor); raise batchSize; {indexes}"));
    assert_eq!(told(unknown, 9.0, 9.9), format!("{writer}{more}"));
    assert_eq!(told("", 9.0, 9.9), format!("{writer}{more}; write larger batches"), "an older recording");
}

#[test]
fn more_channels_are_advised_where_tasks_wait_for_one() {
    let told = |channels: u64, tasks: u32| {
        let plan = format!(r#""plan":{{"channels":{channels}}},"#);
        told_with(&plan, &run((0..tasks).map(|number| task(number, 9.8, (5.0, 0.0), 0.2)))).limit.sentence
    };
    assert!(told(2, 3).contains("; raise speed.channel; "), "{}", told(2, 3));
    assert!(
        told(3, 3).contains("; there were 3 tasks, and more channels only help with more splits; "),
        "{}",
        told(3, 3)
    );
}

#[test]
fn the_longest_call_is_told_of_a_run_that_went_on_behind_it() {
    let second = |micros: u64, seconds: u64| {
        let call = format!(r#"{{"who":"job j","call":"prepare","seconds":{seconds},"doing":"lock"}}"#);
        format!(
            r#"{{"type":"second","micros":{micros},"read_records":0,"read_bytes":0,"written_records":0,"queued_records":0,"queued_bytes":0,"fill":0,"open_tasks":0,"tasks_known":0,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0,"longest_call":{call}}}"#
        )
    };
    let told = |seconds| {
        let seconds = [second(3_000_000, 1), second(7_000_000, seconds), second(8_000_000, 1)];
        told_of(&[seconds.into(), run([])].concat()).longest_call.map(|call| (call.who, call.doing, call.seconds))
    };
    assert_eq!(told(5), Some(("job j".into(), "lock".into(), 5.0)));
    assert_eq!(told(1), None, "that is not long");
}
