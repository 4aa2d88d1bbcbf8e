//! A look at the first files, before anybody asks for splits. What was found is kept for those who do.

use std::sync::Arc;

use transship_plugin_api::Result;

use super::{FoundFile, Places, Walk};

/// If more files than this are looked at they are looked for again, so as not to keep millions.
const MOST_KEPT: usize = 1_000;

/// The files of some places, from the first on, as many as somebody wants to look at.
pub(crate) struct FirstFiles {
    places: Arc<Places>,
    walk: Walk,
    kept: Vec<FoundFile>,
    seen: usize,
}

impl FirstFiles {
    pub(crate) fn of(places: Arc<Places>) -> FirstFiles {
        FirstFiles { walk: Walk::new(places.clone()), places, kept: Vec::new(), seen: 0 }
    }

    /// The next of them.
    pub(crate) fn next(&mut self) -> Result<Option<FoundFile>> {
        let file = self.walk.find_next()?;
        if let Some(file) = &file {
            self.seen += 1;
            if self.seen <= MOST_KEPT {
                self.kept.push(file.clone());
            }
        }
        Ok(file)
    }

    /// Whether there was none.
    pub(crate) fn are_none(&self) -> bool {
        self.seen == 0
    }

    /// A walk from the first file on.
    pub(crate) fn walk_again(mut self) -> Walk {
        if self.seen > MOST_KEPT {
            return Walk::new(self.places);
        }
        self.walk.put_back(self.kept);
        self.walk
    }
}
