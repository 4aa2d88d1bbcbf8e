//! What of a URL may be seen.

use reqwest::Url;

use crate::secret::{is_secret, shown};

#[test]
fn passwords_and_secret_parameters_are_not_shown() {
    let shown = |url: &str| shown(&Url::parse(url).unwrap());
    assert_eq!(shown("https://a.test/x?page=2#y"), "https://a.test/x?page=2");
    assert_eq!(shown("https://ann:pw@a.test/x"), "https://ann:***@a.test/x");
    assert_eq!(
        shown("https://a.test/?api_key=1&q=2&Access-Token=3&X-Amz-Signature=4"),
        "https://a.test/?api_key=***&q=2&Access-Token=***&X-Amz-Signature=***"
    );
}

#[test]
fn headers_that_say_who_we_are_are_secret() {
    for name in ["Authorization", "X-Api-Key", "Cookie", "x-auth-token", "X-Client-Secret"] {
        assert!(is_secret(name), "{name}");
    }
    assert!(!is_secret("Accept") && !is_secret("X-Tenant"));
}
