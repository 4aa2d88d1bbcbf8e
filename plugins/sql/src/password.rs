//! A password that no message shows.

use std::fmt;

/// A password. It is only to be read where it goes to the server.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Hides a password.
    pub fn new(password: impl Into<String>) -> Password {
        Password(password.into())
    }

    /// The password itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
