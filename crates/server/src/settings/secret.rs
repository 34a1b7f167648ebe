//! A text that must not reach a log.

use std::fmt;

use serde::Deserialize;

/// What is shown in place of a secret.
pub(super) const HIDDEN: &str = "********";

/// A text that is not printed: its `Debug` tells only whether it is empty.
///
/// There is no `Display` and no `PartialEq`, so that neither printing nor comparing in variable time can happen
/// by accident.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = if self.is_empty() { "" } else { HIDDEN };
        f.debug_tuple("Secret").field(&shown).finish()
    }
}
