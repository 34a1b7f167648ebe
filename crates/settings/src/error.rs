//! What can be wrong with the settings, in words for the operator who wrote them.

use std::fmt;

use crate::layers::Source;

/// The settings cannot be used. Prints one problem on each line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.problems))]
pub struct SettingsError {
    /// All that was found; never empty.
    pub problems: Vec<Problem>,
}

impl SettingsError {
    /// An error, unless there is nothing to complain about.
    pub(super) fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

/// A key, and the layer that gave its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The dotted key.
    pub key: String,
    /// Where the value in question came from.
    pub source: Source,
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.key, self.source)
    }
}

/// One thing that is wrong. Values shown are already free of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A layer is not TOML. The text around the mistake is not shown, since it may be a secret.
    #[error("{origin}, line {line}, column {column}: {message}")]
    Syntax {
        /// The layer.
        origin: Source,
        /// Line of the mistake, from 1.
        line: usize,
        /// Column of the mistake in characters, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// There is no such setting.
    #[error("{at} is not a setting{}", hint(.suggestion.as_deref()))]
    Unknown {
        /// What was given.
        at: Assignment,
        /// The nearest setting, spelled as this layer spells keys, when one is near.
        suggestion: Option<String>,
    },
    /// One layer gives the same setting twice.
    #[error("{at} is set twice, also by {other}")]
    Repeated {
        /// The later of the two.
        at: Assignment,
        /// The earlier one.
        other: Source,
    },
    /// A value of the wrong type.
    #[error("{at} must be {expected}, not {value}")]
    WrongType {
        /// The setting.
        at: Assignment,
        /// The type it has in the default file.
        expected: String,
        /// What was given, as a TOML literal, or only its type where it may hold a secret.
        value: String,
    },
    /// A number below what makes sense.
    #[error("{at} must be at least {minimum}, not {value}")]
    TooSmall {
        /// The setting.
        at: Assignment,
        /// The smallest value allowed.
        minimum: i64,
        /// What was given.
        value: i64,
    },
    /// A value of the right type that cannot be used.
    #[error("{at}: {reason}")]
    Invalid {
        /// The setting.
        at: Assignment,
        /// What it must be, without the value of a secret.
        reason: String,
    },
    /// Two values that cannot be used together.
    #[error("{first} and {second} conflict: {reason}")]
    Conflict {
        /// One setting.
        first: Assignment,
        /// The other one.
        second: Assignment,
        /// Why not.
        reason: String,
    },
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}
