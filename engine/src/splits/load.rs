//! How a loader looks for splits: part after part of the source, each to its end before it begins with another. Not here: threads, and
//! what a part is.

use super::{Loader, Stopped};

/// A source in parts that can be looked through beside each other.
pub trait Parts {
    type Split;
    type Part;
    type Error;

    /// The next part that nobody has begun with; `None`: there are no more.
    ///
    /// # Errors
    /// When that cannot be said. It is not asked again.
    fn next(&self) -> Result<Option<Self::Part>, Self::Error>;

    /// Whether there may be parts that nobody has begun with.
    fn may_have_more(&self) -> bool;

    /// Whether this part is looked through only while somebody waits for a split.
    fn is_on_demand(&self, part: &Self::Part) -> bool;

    /// The next few splits of a part, each with the size of its description in bytes; none: there are no more.
    ///
    /// # Errors
    /// When they cannot be found. The part is not asked again.
    fn splits(&self, part: &mut Self::Part) -> Result<Vec<(Self::Split, usize)>, Self::Error>;

    /// All was found and put in. It is called once.
    fn are_done(&self);
}

/// Why a loader goes no further.
enum Halt<E> {
    Stopped,
    Failed(E),
}

impl<E> From<Stopped> for Halt<E> {
    fn from(Stopped: Stopped) -> Halt<E> {
        Halt::Stopped
    }
}

/// Looks for splits until there are no more. As soon as it has a part and may not be the only one to find one, it has another loader
/// started: that looks beside it.
pub fn load<P: Parts>(loader: Loader<P::Split, P::Error>, parts: &P, start: impl Fn(Loader<P::Split, P::Error>)) {
    match look(&loader, parts, start) {
        Ok(()) => {
            if loader.end() {
                parts.are_done();
            }
        }
        Err(Halt::Failed(error)) => loader.fail(error),
        Err(Halt::Stopped) => {
            loader.end();
        }
    }
}

fn look<P: Parts>(
    loader: &Loader<P::Split, P::Error>,
    parts: &P,
    start: impl Fn(Loader<P::Split, P::Error>),
) -> Result<(), Halt<P::Error>> {
    loop {
        loader.wait_for_room()?;
        let Some(mut part) = parts.next().map_err(Halt::Failed)? else { return Ok(()) };
        if parts.may_have_more()
            && let Some(another) = loader.another()
        {
            start(another);
        }
        loop {
            if parts.is_on_demand(&part) {
                loader.wait_for_taker()?;
            } else {
                loader.wait_for_room()?;
            }
            let splits = parts.splits(&mut part).map_err(Halt::Failed)?;
            if splits.is_empty() {
                break;
            }
            loader.put(splits)?;
        }
    }
}
