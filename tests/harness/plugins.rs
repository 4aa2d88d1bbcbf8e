//! Plugins in C, compiled once for all tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::program::{folder, repository};

/// The folder of the plugin from `plugin-api/examples/minimal.c`.
pub fn minimal() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| compile("plugin-api/examples/minimal.c", "minimal", &[]))
}

/// The folder of the plugin from `tests/faulty/malformed.c`, whose reader makes malformed arrays.
pub fn malformed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| compile("tests/faulty/malformed.c", "malformed", &[]))
}

/// The folder of the plugin from `tests/faulty/lookup.c`, whose lookup answers from a thread of its own, twice, and too late.
pub fn c_lookup() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| compile("tests/faulty/lookup.c", "clookup", &[]))
}

/// The folder of a library that is no good plugin, made of `tests/faulty/broken.c` with this macro defined.
pub fn broken(how: &str) -> PathBuf {
    compile("tests/faulty/broken.c", &format!("broken_{}", how.to_lowercase()), &[how])
}

/// Compiles a C file to `libtransship_NAME.so` in a folder of its own.
fn compile(source: &str, name: &str, macros: &[&str]) -> PathBuf {
    let place = folder().parent().expect("a build has a folder around it").join("tmp").join("c-plugins").join(name);
    std::fs::create_dir_all(&place).expect("a folder can be made");
    // Another process may run the tests as well: the library appears at once, as a whole.
    let part = place.join(format!("{}.part", std::process::id()));
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-g", "-shared", "-fPIC", "-fvisibility=hidden"])
        .args(macros.iter().map(|name| format!("-D{name}")))
        .arg("-I")
        .arg(repository().join("plugin-api/include"))
        .arg("-o")
        .arg(&part)
        .arg(repository().join(source))
        .status()
        .expect("a C compiler, cc, is there");
    assert!(compiled.success(), "{source} does not compile");
    std::fs::rename(&part, place.join(format!("libtransship_{name}.so"))).expect("a file can be renamed");
    place
}
