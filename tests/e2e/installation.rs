//! The program installed beside a few plugins: there a plugin is missing whatever else was built.

use std::path::Path;

use tempfile::TempDir;
use transship_tests::{Finished, Transship, program};

/// A folder that holds the program and these plugins alone.
pub(crate) struct Installation {
    folder: TempDir,
}

impl Installation {
    /// With the plugins of these libraries.
    pub(crate) fn with(plugins: &[&str]) -> Installation {
        let built = program::folder();
        // On the disk that they were built on, so that nothing is copied.
        let place = built.parent().expect("a build has a folder around it").join("tmp");
        std::fs::create_dir_all(&place).unwrap();
        let folder = TempDir::with_prefix_in("installation-", place).unwrap();
        let link = |name: &str| {
            let (from, to) = (built.join(name), folder.path().join(name));
            std::fs::hard_link(&from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        };
        link("transship");
        plugins.iter().for_each(|plugin| link(&format!("libtransship_{plugin}.so")));
        Installation { folder }
    }

    /// Runs this program in the place of the one that was built.
    pub(crate) fn run(&self, transship: Transship) -> Finished {
        transship.within(&format!("shift; exec '{}/transship' \"$@\"", self.folder().display())).run()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}
