//! Secrets in URLs, headers and parameters never appear, whatever happens.

use transship_tests::http::{Reply, with_server};
use transship_tests::{Scratch, Value, json};

use super::{printing, run};

/// What must not be seen.
const SECRETS: [&str; 6] = ["s3cret-one", "s3cret-two", "s3cret-three", "s3cret-four", "s3cret-five", "c3NlY3JldA"];

fn fails_in_silence(parameter: Value) {
    let scratch = Scratch::new();
    let run = run(&scratch, &printing(parameter)).fails_with(1);
    run.does_not_say(SECRETS);
    for name in scratch.files().iter().filter(|name| *name != "job.json") {
        let text = scratch.read(name);
        assert!(!SECRETS.iter().any(|secret| text.contains(secret)), "{name}: {text}");
    }
}

#[test]
fn secrets_are_in_no_message() {
    for status in [401, 404, 500] {
        with_server(
            |_| Reply::new(status, "no"),
            |server| {
                let address = server.url().replace("http://", "");
                fails_in_silence(json!({
                    "url": format!("http://ann:s3cret-one@{address}/x?api_key=s3cret-two&q=1"),
                    "headers": { "X-Auth": "s3cret-three" },
                    "query": { "access_token": "s3cret-four" },
                    "retries": 1, "pause": "1 ms"
                }));
                assert!(server.requests()[0].target.contains("s3cret-two"));
            },
        );
    }
    fails_in_silence(
        json!({ "url": "http://ann:s3cret-one@127.0.0.1:9/?signature=s3cret-two", "token": "s3cret-five", "retries": 0 }),
    );
    with_server(
        |_| Reply::ok("nonsense"),
        |server| {
            fails_in_silence(
                json!({ "url": format!("{}/?sig=s3cret-two", server.url()), "username": "ann", "password": "s3cret-one" }),
            );
        },
    );
}
