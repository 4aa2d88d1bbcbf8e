//! From one page to the next.

use reqwest::{Method, Url};
use serde_json::{Value, json};
use transship_plugin_api::Params;

use crate::client::{Ask, Body};
use crate::paging::{Paging, Place, Turn};

fn paging(paging: Value, body: Option<&Value>) -> Paging {
    let parameter = json!({ "paging": paging });
    Paging::parse(&Params::new(&parameter, "parameter").unwrap(), body, false).unwrap()
}

fn next(paging: &Paging, place: &Place, records: u64, around: Value, links: &[&str]) -> Result<Option<Place>, String> {
    let links: Vec<String> = links.iter().map(|link| link.to_string()).collect();
    let url = Url::parse("http://a.test/list/x?q=1").unwrap();
    let turn = Turn { records, around: &around, links: &links, url: &url };
    paging.next(place, &turn).map_err(|error| error.message().to_string())
}

/// The URL that a page is asked for by.
fn asked(paging: &Paging, place: &Place) -> String {
    let url = Url::parse("http://a.test/list/x?q=1").unwrap();
    let mut ask = Ask { method: Method::GET, url, headers: Default::default(), body: None };
    paging.turn_to(place, &mut ask).unwrap();
    ask.url.to_string()
}

#[test]
fn a_single_page_is_all_without_paging() {
    let paging = Paging::parse(&Params::new(&json!({}), "parameter").unwrap(), None, false).unwrap();
    assert_eq!(asked(&paging, &paging.start()), "http://a.test/list/x?q=1");
    assert_eq!(next(&paging, &paging.start(), 5, json!({ "next": "y" }), &["<y>; rel=next"]), Ok(None));
}

#[test]
fn numbers_go_up_by_one_or_by_the_records_that_came() {
    let pages = paging(json!({ "by": "page" }), None);
    let second = next(&pages, &pages.start(), 3, json!([]), &[]).unwrap().unwrap();
    assert_eq!(asked(&pages, &second), "http://a.test/list/x?q=1&page=2");
    assert_eq!(next(&pages, &second, 0, json!([]), &[]), Ok(None));

    let offsets = paging(json!({ "by": "offset", "start": 5, "size": 50 }), None);
    let second = next(&offsets, &offsets.start(), 3, json!([]), &[]).unwrap().unwrap();
    assert_eq!(asked(&offsets, &offsets.start()), "http://a.test/list/x?q=1&limit=50&offset=5");
    assert_eq!(asked(&offsets, &second), "http://a.test/list/x?q=1&limit=50&offset=8");
}

#[test]
fn a_cursor_is_put_where_the_job_says() {
    let cursors = paging(json!({ "by": "cursor", "pointer": "/page/after", "parameter": "after" }), None);
    let second = next(&cursors, &cursors.start(), 3, json!({ "page": { "after": "a&b" } }), &[]).unwrap().unwrap();
    assert_eq!(asked(&cursors, &second), "http://a.test/list/x?q=1&after=a%26b");
    for end in [json!({}), json!({ "page": { "after": null } }), json!({ "page": { "after": "" } })] {
        assert_eq!(next(&cursors, &second, 3, end, &[]), Ok(None));
    }
    let again = next(&cursors, &second, 3, json!({ "page": { "after": "a&b" } }), &[]);
    assert!(again.unwrap_err().contains("leads to itself"));

    let body = json!({ "page": { "size": 10 }, "q": 1 });
    let in_body = paging(json!({ "by": "cursor", "in": "body", "parameter": "/page/after" }), Some(&body));
    let second = next(&in_body, &in_body.start(), 3, json!({ "next": 7 }), &[]).unwrap().unwrap();
    let url = Url::parse("http://a.test/").unwrap();
    let mut ask =
        Ask { method: Method::POST, url, headers: Default::default(), body: Some(Body::json(body.to_string())) };
    in_body.turn_to(&second, &mut ask).unwrap();
    let sent: Value = serde_json::from_slice(&ask.body.unwrap().bytes).unwrap();
    assert_eq!(sent, json!({ "page": { "size": 10, "after": 7 }, "q": 1 }));
}

#[test]
fn links_are_found_among_others() {
    let links = paging(json!({ "by": "link" }), None);
    let led = |header: &str| {
        let place = next(&links, &links.start(), 3, json!([]), &[header]).unwrap();
        place.map(|place| asked(&links, &place))
    };
    assert_eq!(led("<?page=2>; rel=\"next\", <?page=9>; rel=\"last\"").as_deref(), Some("http://a.test/list/x?page=2"));
    assert_eq!(led("</b,c;d>; title=\"next\"; REL=Next").as_deref(), Some("http://a.test/b,c;d"));
    for none in ["", "<?page=1>; rel=prev", "<?page=1", "?page=1; rel=next", "<a>; rel=nextish"] {
        assert_eq!(led(none), None, "{none}");
    }
}

#[test]
fn another_server_is_not_followed_and_pages_have_a_limit() {
    let urls = paging(json!({ "by": "next", "most": 2 }), None);
    let away = next(&urls, &urls.start(), 3, json!({ "next": "https://a.test/list" }), &[]);
    assert_eq!(away, Err("the next page is on another server, https://a.test/list".into()));
    let second = next(&urls, &urls.start(), 3, json!({ "next": "/b" }), &[]).unwrap().unwrap();
    let third = next(&urls, &second, 3, json!({ "next": "/c" }), &[]);
    assert_eq!(third, Err("there are more than 2 pages, which is paging.most".into()));
    assert_eq!(next(&urls, &second, 3, json!({ "next": null }), &[]), Ok(None));
}

#[test]
fn a_place_is_the_same_when_it_comes_back() {
    let urls = paging(json!({ "by": "next" }), None);
    let place = next(&urls, &urls.start(), 3, json!({ "next": "/b" }), &[]).unwrap().unwrap();
    let kept = serde_json::to_value(&place).unwrap();
    assert_eq!(serde_json::from_value::<Place>(kept).unwrap(), place);
}
