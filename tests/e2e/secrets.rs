//! Secrets: whatever a job file holds under a name like `password` or `token` is printed nowhere, although the faulty plugin
//! does its best to spread it.

use transship_tests::{Finished, Job, Scratch, Value, faulty, faulty_transformer, json};

/// Values that occur nowhere else: plain, with what JSON and Rust escape, a number, beyond ASCII.
const CANARIES: [&str; 5] =
    ["canary-7391-plain", "canary \"7391\" \\quoted", "canary\n7391\tlines", "739173917391", "kanári-7391-ő"];

/// Everything that the plugin can say, with all secrets in it.
fn gossip() -> String {
    CANARIES.join(" | ")
}

fn secrets() -> Value {
    json!({
        "password": CANARIES[0],
        "token": CANARIES[1],
        "connection": [{ "Pass-Word": CANARIES[2], "accessKey": { "id": 739_173_917_391_u64 } }],
        "options": { "clientSecret": CANARIES[4] },
    })
}

fn with_secrets(mut parameter: Value) -> Value {
    parameter.as_object_mut().unwrap().extend(secrets().as_object().unwrap().clone());
    parameter
}

/// No secret is in a text, neither as it is nor as JSON or Rust would write it.
#[track_caller]
fn check(what: &str, text: &str) {
    for canary in CANARIES {
        let json = Value::from(canary).to_string();
        for form in [
            canary.to_string(),
            json.trim_matches('"').to_string(),
            format!("{canary:?}").trim_matches('"').to_string(),
        ] {
            assert!(!text.contains(&form), "{form} is in {what}:\n{text}");
        }
    }
}

fn check_run(scratch: &Scratch, run: &Finished, what: &str) {
    check(&format!("{what}: stdout"), &run.stdout);
    check(&format!("{what}: stderr"), &run.stderr);
    for name in scratch.files().iter().filter(|name| !["job.json", "journal"].contains(&name.as_str())) {
        check(&format!("{what}: the file {name}"), &scratch.read(name));
    }
}

/// A job in which this call of the reader, transformer or writer fails in this way, and says all it knows.
fn job(who: &str, at: &str, how: &str) -> Job {
    let talk = |me: &str| {
        let mut parameter = json!({ "log": gossip() });
        if me == who {
            parameter["fail"] = json!({ "at": at, "how": how, "message": gossip() });
        }
        with_secrets(parameter)
    };
    let mut reader = talk("reader");
    reader["label"] = json!(gossip());
    reader["cause"] = json!(gossip());
    reader["dirtyEvery"] = json!(10);
    faulty(reader, talk("writer")).transformer(faulty_transformer(talk("transformer")))
}

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    let run = scratch.transship(["run", "job.json", "--json", "--perf", "perf.jsonl", "--dirty", "dirty.jsonl"]);
    run.env("TRANSSHIP_LOG", "trace").run()
}

/// Trap 22.
#[test]
fn no_secret_is_printed_by_a_run_that_goes_well() {
    let scratch = Scratch::new();
    let run = run(&scratch, &job("nobody", "", ""));
    let run = run.succeeds();
    for level in ["error", "warn", "info", "debug", "trace"] {
        run.says([format!(" {level}: ").as_str()]);
    }
    check_run(&scratch, &run, "a good run");
}

/// Trap 22.
#[test]
fn no_secret_is_printed_by_a_run_that_fails() {
    let places = [
        ("reader", "init"),
        ("reader", "prepare"),
        ("reader", "splits"),
        ("reader", "next"),
        ("transformer", "init"),
        ("transformer", "push"),
        ("writer", "init"),
        ("writer", "prepare"),
        ("writer", "write"),
        ("writer", "commit_task"),
        ("writer", "commit"),
        ("writer", "post"),
    ];
    for (who, at) in places {
        for how in ["error:io", "error:config", "panic"] {
            let scratch = Scratch::new();
            let run = run(&scratch, &job(who, at, how));
            assert_ne!(run.code(), Some(0), "{who} {at} {how}: {run}");
            check_run(&scratch, &run, &format!("{who} {at} {how}"));
        }
    }
}

#[test]
fn no_secret_is_printed_by_plan_and_check() {
    let scratch = Scratch::new();
    let writer = with_secrets(json!({ "plan": [gossip(), "insert into t"] }));
    scratch.job("job.json", &faulty(with_secrets(json!({ "label": gossip(), "log": gossip() })), writer));
    for arguments in [&["plan", "job.json"][..], &["plan", "job.json", "--json"], &["check", "job.json"]] {
        let run = scratch.transship(arguments.iter()).env("TRANSSHIP_LOG", "trace").run().succeeds();
        check_run(&scratch, &run, &arguments.join(" "));
    }
    let plan = scratch.transship(["plan", "job.json"]).run().succeeds();
    assert!(plan.stdout.contains("*** | *** | ***"), "what is left out is seen to be: {plan}");
    assert!(plan.stdout.contains("insert into t"), "{plan}");
}

#[test]
fn no_secret_is_printed_when_it_has_the_wrong_type() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "records": { "password": CANARIES[0] } }), json!({})));
    let run = scratch.transship(["run", "job.json"]).env("TRANSSHIP_LOG", "trace").run().fails_with(2);
    check_run(&scratch, &run, "a wrong type");
}

/// Trap 22.
#[test]
fn passwords_inside_addresses_are_masked() {
    let scratch = Scratch::new();
    let message = "cannot reach postgres://ann:canary-url@db/x nor jdbc:mysql://h/d?user=a&password=canary-query&ssl=1";
    let reader = json!({
        "jdbcUrl": "jdbc:mysql://h/d?user=a&password=canary-query&ssl=1",
        "url": ["postgres://ann:canary-url@db/x"],
        "fail": { "at": "prepare", "how": "error:connect", "message": message },
    });
    let run = scratch.run(&faulty(reader, json!({}))).fails_with(1);
    run.says(["cannot reach postgres://ann:***@db/x nor jdbc:mysql://h/d?user=a&password=***&ssl=1"]);
}

#[test]
fn passwords_are_found_however_an_address_is_written() {
    let addresses = [
        ("postgres://ann:c@nary/7391@db/x", "postgres://ann:***@db/x"),
        ("host=h password=canary-7391 user=x", "host=h password=*** user=x"),
        ("host=h password='canary 7391' user=x", "host=h password='***' user=x"),
        ("jdbc:sqlserver://h;user=a;password=canary-7391;x=1", "jdbc:sqlserver://h;user=a;password=***;x=1"),
        ("jdbc:oracle:thin:scott/canary-7391@//h:1521/x", "jdbc:oracle:thin:scott/***@//h:1521/x"),
        ("postgres://ann:can%40ry@db/x", "postgres://ann:***@db/x"),
        ("postgres://ann:pw@db/x", "postgres://ann:***@db/x"),
    ];
    for (address, shown) in addresses {
        let message = format!("cannot reach {address} with can@ry");
        let fault = json!({ "at": "prepare", "how": "error:connect", "message": message });
        let run = Scratch::new().run(&faulty(json!({ "address": address, "fail": fault }), json!({}))).fails_with(1);
        run.says([format!("cannot reach {shown} with ").as_str()]);
        assert_eq!(run.stderr.contains("with can@ry"), !address.contains('%'), "{run}");

        let scratch = Scratch::new();
        scratch.write("broken.json", format!(r#"{{"address": "{address}" 1}}"#));
        let run = scratch.transship(["check", "broken.json"]).run().fails_with(2);
        for part in ["nary", "7391", "%40ry", ":pw"] {
            assert!(!run.stderr.contains(part), "{address}: {run}");
        }
    }
}

#[test]
fn an_address_without_a_password_hides_nothing() {
    for address in ["http://h:8080/x?mail=ann@example.com", "jdbc:hive2://h:10000/db;principal=hive/_HOST@REALM"] {
        let message = format!("cannot reach {address}");
        let fault = json!({ "at": "prepare", "how": "error:connect", "message": message });
        let run = Scratch::new().run(&faulty(json!({ "address": address, "fail": fault }), json!({}))).fails_with(1);
        run.says([message.as_str()]);
    }
}

#[test]
fn a_secret_that_looks_like_a_figure_does_not_spoil_the_summary() {
    // Runs end with many figures; some of them hold this one.
    let scratch = Scratch::new();
    let job = faulty(json!({ "password": "100", "token": "true" }), json!({ "password": "counts" }));
    let summary = scratch.run(&job).succeeds().summary();
    assert_eq!(summary["counts"]["read"], 100);
    scratch.job("job.json", &job);
    let plan = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    serde_json::from_str::<Value>(&plan.stdout).unwrap();
}

#[test]
fn a_broken_job_file_is_shown_without_its_secrets() {
    for content in [
        r#"{"job": {"password": "canary-7391-plain", "x" 1}}"#,
        r#"{"job": {"password": "canary-7391-plain" "x"}}"#,
        r#"{"job": {"password": canary-7391-plain}}"#,
        "{\"job\": {\"password\":\n\"canary-7391-plain\" 1}}",
        "{\"job\": {\"tokens\": [\n\"canary-7391-plain\" 1]}}",
        r#"{"url": "jdbc:mysql://h/d?user=a&password=canary-7391-plain" 1}"#,
        r#"{"url": "postgres://ann:canary-7391-plain@db/x" 1}"#,
        r#"{"password": "canary-7391-plain"#,
        "{\"password\": \"canary-7391-plain\n\"}",
    ] {
        let scratch = Scratch::new();
        scratch.write("broken.json", content);
        let run = scratch.transship(["run", "broken.json"]).env("TRANSSHIP_LOG", "trace").run().fails_with(2);
        check("stderr", &run.stderr);
    }
}
