//! Where the program and the plugins lie, once they are built.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in a folder of the repository")
}

/// The folder that holds the program and the plugin libraries, built.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // …/target/debug/deps/e2e-0123
        let this = std::env::current_exe().expect("a program knows its own file");
        let folder = this.parent().and_then(Path::parent).expect("a test lies in target/PROFILE/deps").to_path_buf();
        build(&folder);
        assert!(folder.join("transship").is_file(), "there is no program transship in {}", folder.display());
        folder
    })
}

/// The program.
pub fn program() -> PathBuf {
    folder().join("transship")
}

/// Builds what is tested: `cargo test` alone puts neither the program nor the libraries into their final place.
fn build(folder: &Path) {
    if std::env::var_os("TRANSSHIP_BUILT").is_some() {
        return;
    }
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--workspace", "--quiet", "--profile", profile])
        .current_dir(repository())
        .status()
        .expect("cargo can be started");
    assert!(built.success(), "cargo build --workspace failed");
}
