//! What is wrong with stored analytics that were damaged.

use bourse_sets::Damaged;

/// Why stored bytes are not what they should be.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("stored analytics are damaged: {0}")]
pub struct Corrupt(pub(crate) &'static str);

impl Corrupt {
    /// A piece has a name that none can have.
    pub const NAME: Self = Self("a piece has a name that none can have");
}

impl From<Damaged> for Corrupt {
    fn from(Damaged(reason): Damaged) -> Self {
        Self(reason)
    }
}
