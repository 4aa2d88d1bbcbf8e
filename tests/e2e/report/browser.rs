//! The headless Chromium that opens pages for the tests.

use std::process::{Command, Stdio};

use transship_tests::{Scratch, Value};

/// Where scripts/test has it.
const BROWSER: &str = "chromium";

/// The document that a browser makes of a page in the scratch folder, once it has drawn itself.
pub(super) fn opened(scratch: &Scratch, page: &str) -> String {
    opened_in(scratch, page, Colours::Light)
}

/// What the system of the person who looks prefers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Colours {
    Dark,
    Light,
}

/// The same with these colours.
pub(super) fn opened_in(scratch: &Scratch, page: &str, colours: Colours) -> String {
    let run = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", colours as u8))
        .arg(format!("--user-data-dir={}", scratch.path("browser").display()))
        .arg(format!("file://{}", scratch.path(page).display()))
        .env("HOME", scratch.path("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{BROWSER}: {error}; it has to be installed"));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let document = String::from_utf8(run.stdout).unwrap();
    let (_, errors) = document.split_once("<div id=\"errors\">").expect("the page has a place for errors");
    assert_eq!(errors.split_once("</div>").unwrap().0, "", "errors in the page");
    assert!(document.contains("data-drawn="), "the page has drawn itself to its end");
    document
}

/// The value of an expression in the page, once that has drawn itself.
pub(super) fn evaluated(scratch: &Scratch, page: &str, expression: &str) -> Value {
    evaluated_in(scratch, page, Colours::Light, expression)
}

/// The same with these colours.
pub(super) fn evaluated_in(scratch: &Scratch, page: &str, colours: Colours, expression: &str) -> Value {
    // Percent signs and letters only, so that nothing has to be read back from HTML.
    let script = format!(
        "<script>{{ const told = encodeURIComponent(JSON.stringify({expression})); \
         document.body.dataset.told = told.replace(/[!'()*]/g, (one) => '%' + one.charCodeAt(0).toString(16)); }}</script></body>"
    );
    scratch.write("evaluated.html", scratch.read(page).replace("</body>", &script));
    let document = opened_in(scratch, "evaluated.html", colours);
    let (_, told) = document.split_once("data-told=\"").expect("the expression has a value");
    serde_json::from_slice(&decoded(told.split_once('"').unwrap().0)).expect("it is JSON")
}

/// Text with its percent signs resolved.
fn decoded(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut all = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at(2);
        all.push(u8::from_str_radix(code, 16).expect("two digits"));
        all.extend(rest.as_bytes());
    }
    all
}

/// The value of a figure of the page.
pub(super) fn figure(document: &str, id: &str) -> f64 {
    let (_, rest) = document.split_once(&format!("<b id=\"{id}\" data-value=\"")).unwrap_or_else(|| panic!("no #{id}"));
    rest.split_once('"').unwrap().0.parse().unwrap()
}

/// What a person reads there.
pub(super) fn shown<'a>(document: &'a str, id: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no #{id}"));
    rest.split_once('>').unwrap().1.split_once('<').unwrap().0
}
