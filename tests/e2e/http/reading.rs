//! What `httpreader` makes of answers: values, columns, pages, lines.

use transship_tests::http::{Reply, Request, with_server};
use transship_tests::records::number;
use transship_tests::{Job, Scratch, json, plugin};

use super::{number_in, numbers, page_of_35, printed, printing, records, reply, run};

#[test]
fn values_keep_every_digit_and_lists_stay_json() {
    let answer = r#"{ "meta": {"items": 2}, "data": { "items": [
        {"id": 9223372036854775807, "n": 123456789012345678901234567890.10, "t": "a|\"b\"\u00e9\n", "b": true,
         "d": "2020-02-29", "at": "2020-02-29T23:30:00.5-01:00", "j": {"x": [1.0, "ü"]}, "raw": "YWI="},
        {"id": null, "n": "1E400", "t": 1.50, "b": "FALSE", "d": "2020-02-29 01:02:03", "j": 5, "deep": {"er": ["x", "y"]}}
    ] } }"#;
    with_server(
        |_| Reply::ok(answer),
        |server| {
            let column = json!([
                { "name": "id", "type": "long" }, { "name": "n", "type": "number" }, { "name": "t" },
                { "name": "b", "type": "boolean" }, { "name": "d", "type": "date" }, { "name": "at", "type": "instant" },
                { "name": "j", "type": "json" }, { "pointer": "/deep/er/1" }, { "name": "who", "value": "me" },
                { "name": "raw", "type": "bytes" }
            ]);
            let scratch = Scratch::new();
            let reader =
                plugin("httpreader", json!({ "url": server.url(), "records": "/data/items", "column": column }));
            let writer = json!({ "path": ".", "fileName": "out", "writeMode": "truncate", "fileFormat": "csv", "nullFormat": "NULL" });
            run(&scratch, &Job::new(reader, plugin("txtfilewriter", writer))).succeeds();
            let file = scratch.files().into_iter().find(|name| name.starts_with("out")).unwrap();
            let mut records = csv::ReaderBuilder::new().has_headers(false).from_path(scratch.path(file)).unwrap();
            let rows: Vec<Vec<String>> =
                records.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect();
            assert_eq!(
                rows[0],
                [
                    "9223372036854775807",
                    "123456789012345678901234567890.10",
                    "a|\"b\"é\n",
                    "true",
                    "2020-02-29 00:00:00",
                    "2020-03-01 00:30:00.5+00:00",
                    r#"{"x":[1.0,"ü"]}"#,
                    "NULL",
                    "me",
                    "ab"
                ]
            );
            assert_eq!(
                rows[1],
                ["NULL", "1E400", "1.50", "false", "2020-02-29 01:02:03", "NULL", "5", "y", "me", "NULL"]
            );
        },
    );
}

#[test]
fn columns_that_nobody_lists_are_those_of_the_first_records() {
    let answer = json!([{ "b": 1, "a": "x" }, { "a": null, "c": [1] }, { "b": 2.5, "a": 7, "c": "text", "d": null }]);
    with_server(
        |_| reply(answer.clone()),
        |server| {
            assert_eq!(
                printed(json!({ "url": server.url() })),
                ["1|x|null|null", "null|null|[1]|null", "2.5|7|\"text\"|null"]
            );
        },
    );
}

#[test]
fn pages_are_read_by_their_number_until_one_is_empty() {
    with_server(
        |request: &Request| reply(json!(page_of_35(number_in(request, "p") - 1))),
        |server| {
            let paging = json!({ "by": "page", "parameter": "p", "size": 10, "sizeParameter": "per" });
            assert_eq!(
                printed(json!({ "url": format!("{}/x?p=9&q=a%20b", server.url()), "paging": paging })),
                numbers(0..35)
            );
            let asked: Vec<String> = server.requests().into_iter().map(|request| request.target).collect();
            assert_eq!(asked[0], "/x?q=a+b&per=10&p=1");
            assert_eq!(asked.len(), 5, "{asked:?}");
        },
    );
}

#[test]
fn an_offset_moves_by_the_records_that_came_however_many_were_asked_for() {
    // The server never gives more than seven.
    let page = |request: &Request| {
        let first = number_in(request, "offset");
        reply(json!({ "rows": records(first.min(35)..(first + 7).min(35)) }))
    };
    with_server(page, |server| {
        let parameter = json!({ "url": server.url(), "records": "/rows", "paging": { "by": "offset", "size": 100 }, "column": [{ "name": "id" }] });
        assert_eq!(printed(parameter), numbers(0..35));
        assert_eq!(server.requests().len(), 6);
    });
}

#[test]
fn a_cursor_in_the_answer_leads_on_also_in_a_body() {
    let page = |request: &Request| {
        let body: transship_tests::Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body["filter"], "all");
        let number =
            body.pointer("/page/after").and_then(|after| after.as_str()).map_or(0, |after| after[1..].parse().unwrap());
        let next = if number < 3 { json!(format!("c{}", number + 1)) } else { json!(null) };
        reply(json!({ "next": next, "items": page_of_35(number) }))
    };
    with_server(page, |server| {
        let paging = json!({ "by": "cursor", "parameter": "/page/after", "in": "body", "size": 10, "sizeParameter": "/page/size" });
        let parameter = json!({ "url": server.url(), "records": "/items", "body": { "filter": "all", "page": {} }, "paging": paging });
        assert_eq!(printed(parameter), numbers(0..35));
        assert!(
            server.requests().iter().all(|request| request.method == "POST" && request.body.contains("\"size\":10"))
        );
    });
}

#[test]
fn links_in_headers_and_urls_in_answers_lead_on() {
    let by_link = |request: &Request| {
        let number = number_in(request, "page");
        let links = format!("</?page=0>; rel=first, </?page={}>; rel=\"prev next\"; title=\"x\"", number + 1);
        let answer = reply(json!(page_of_35(number)));
        if number < 3 { answer.header("link", links) } else { answer.header("link", "</?page=0>; rel=first") }
    };
    with_server(by_link, |server| {
        assert_eq!(
            printed(json!({ "url": server.url(), "query": { "key": "k1" }, "paging": { "by": "link" } })),
            numbers(0..35)
        );
        assert!(server.requests().iter().all(|request| request.query("key") == Some("k1")));
    });
    let by_url = |request: &Request| {
        let number = number_in(request, "page");
        let next = if number < 3 { json!(format!("?page={}", number + 1)) } else { json!("") };
        reply(json!({ "_links": { "next": next }, "data": page_of_35(number) }))
    };
    with_server(by_url, |server| {
        let paging = json!({ "by": "next", "pointer": "/_links/next" });
        assert_eq!(printed(json!({ "url": server.url(), "records": "/data", "paging": paging })), numbers(0..35));
    });
}

#[test]
fn an_answer_may_say_that_there_are_no_more_pages() {
    let page = |request: &Request| {
        let number = number_in(request, "page");
        reply(json!({ "more": number < 2, "data": page_of_35(number) }))
    };
    with_server(page, |server| {
        let paging = json!({ "by": "page", "start": 0, "more": "/more" });
        assert_eq!(printed(json!({ "url": server.url(), "records": "/data", "paging": paging })), numbers(0..30));
        assert_eq!(server.requests().len(), 3);
    });
}

#[test]
fn lines_of_json_stand_for_themselves() {
    let lines = "{\"id\": 1}\r\n\n{\"id\": 2\n{\"id\": 3}\n{\"id\": \"x\"}\n{\"id\": 4}";
    with_server(
        |_| Reply::ok(lines),
        |server| {
            let scratch = Scratch::new();
            let parameter =
                json!({ "url": server.url(), "format": "jsonl", "column": [{ "name": "id", "type": "long" }] });
            let run = run(&scratch, &printing(parameter)).succeeds();
            assert_eq!(run.stdout.lines().collect::<Vec<_>>(), ["1", "3", "4"]);
            let dirty = scratch.dirty_records();
            assert_eq!(dirty.len(), 2, "{dirty:?}");
            assert!(dirty[0]["cause"].as_str().unwrap().starts_with("is no JSON"), "{dirty:?}");
            assert_eq!(dirty[0]["record"], "{\"id\": 2");
            assert_eq!((dirty[1]["column"].as_str(), dirty[1]["value"].as_str()), (Some("id"), Some("x")));
        },
    );
}

#[test]
fn several_urls_are_splits_and_each_may_have_pages() {
    let page = |request: &Request| match number_in(request, "page") {
        1 if request.path() == "/a" => reply(json!(records(0..2))),
        1 => reply(json!(records(10..12))),
        _ => reply(json!([])),
    };
    with_server(page, |server| {
        let urls = ["a", "b"].map(|name| format!("{}/{name}", server.url()));
        let mut lines = printed(json!({ "url": urls, "column": [{ "name": "id" }], "paging": { "by": "page" } }));
        lines.sort();
        assert_eq!(lines, ["0", "1", "10", "11"]);
    });
}

#[test]
fn a_large_page_is_read_without_holding_it() {
    let count = 200_000;
    let text = "x".repeat(200);
    let items: Vec<String> = (0..count).map(|id| format!("{{\"id\": {id}, \"text\": \"{text}\"}}")).collect();
    let body = format!("{{\"before\": [{{}}], \"items\": [{}], \"after\": 1}}", items.join(",\n "));
    with_server(
        |_| Reply::ok(body.clone()),
        |server| {
            let scratch = Scratch::new();
            let reader = json!({ "url": server.url(), "records": "/items", "column": [{ "name": "id", "type": "long" }, { "name": "text" }] });
            let job = Job::new(plugin("httpreader", reader), plugin("streamwriter", json!({ "print": false })));
            let run = scratch.run(&job).succeeds();
            assert_eq!(number(&run.summary(), "/counts/written"), count);
        },
    );
}

#[test]
fn answers_that_were_compressed_are_read() {
    let body = json!(records(0..3)).to_string();
    with_server(
        |_| Reply::ok(gzip(body.as_bytes())).header("content-encoding", "gzip"),
        |server| {
            assert_eq!(printed(json!({ "url": server.url() })), numbers(0..3));
            assert_eq!(server.requests()[0].header("accept-encoding"), Some("gzip"));
        },
    );
}

/// The form of gzip, with the bytes as they are.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut check = u32::MAX;
    for byte in bytes {
        check ^= *byte as u32;
        for _ in 0..8 {
            check = (check >> 1) ^ (0xedb8_8320 * (check & 1));
        }
    }
    let length = bytes.len() as u16;
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    gzip.extend(length.to_le_bytes());
    gzip.extend((!length).to_le_bytes());
    gzip.extend(bytes);
    gzip.extend((!check).to_le_bytes());
    gzip.extend((bytes.len() as u32).to_le_bytes());
    gzip
}

#[test]
fn who_we_are_is_in_every_request() {
    with_server(
        |_| reply(json!(records(0..1))),
        |server| {
            let headers = json!({ "X-Tenant": "seven", "Accept": "application/json" });
            printed(
                json!({ "url": server.url(), "headers": headers, "username": "ann", "password": "se:cret", "query": { "tag": ["a", "b&c"], "n": 5 } }),
            );
            let request = &server.requests()[0];
            assert_eq!(request.target, "/?tag=a&tag=b%26c&n=5");
            assert_eq!(request.header("authorization"), Some("Basic YW5uOnNlOmNyZXQ="));
            assert_eq!(
                (request.header("x-tenant"), request.header("accept")),
                (Some("seven"), Some("application/json"))
            );
        },
    );
}
