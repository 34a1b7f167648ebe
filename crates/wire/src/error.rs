//! Errors as callers see them.

use serde::ser::SerializeStruct;

use crate::dialect::{Dialect, Word};

/// Declares [`Code`] from its table: variant, number, name, HTTP status, and what it means, which is also its
/// documentation.
macro_rules! codes {
    ($($variant:ident = $number:literal, $name:literal, $status:literal, $meaning:literal;)*) => {
        /// What went wrong, in our own words; each service tells it in those of its [`Dialect`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// What we call it ourselves.
            pub fn word(self) -> Word {
                match self { $(Self::$variant => Word { number: $number, name: $name, status: $status },)* }
            }

            /// When a caller meets it, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    BadRoute = -2, "WebrpcBadRoute", 404, "There is nothing at this path.";
    BadMethod = -3, "WebrpcBadMethod", 405, "The path is called with another HTTP method.";
    BadRequest = -4, "WebrpcBadRequest", 400, "The body is not JSON, has a member of the wrong type, or the content type is not JSON.";
    BodyTooLarge = -4, "WebrpcBadRequest", 413, "The body is larger than the limit.";
    ServerPanic = -6, "WebrpcServerPanic", 500, "The service failed on this request; please report it.";
    Internal = -7, "WebrpcInternalError", 500, "Something failed inside; the log has the details under the id in the message.";
    Unauthorized = 1000, "Unauthorized", 401, "No credential, a malformed one, or a token that is unknown or revoked.";
    PermissionDenied = 1001, "PermissionDenied", 403, "The credential is good, but not for this: another project, or a key where a token is needed.";
    SessionExpired = 1002, "SessionExpired", 403, "The secret token's time is over.";
    RequestConflict = 1004, "RequestConflict", 409, "The change contradicts what is stored.";
    RateLimited = 1007, "RateLimited", 429, "Too many requests a minute from this address.";
    AccessKeyNotFound = 1101, "AccessKeyNotFound", 401, "The access key is unknown or disabled.";
    AccessKeyMismatch = 1102, "AccessKeyMismatch", 403, "Access key and secret token are of different projects.";
    InvalidOrigin = 1103, "InvalidOrigin", 403, "The access key is not for this origin.";
    InvalidService = 1104, "InvalidService", 403, "The access key is not for this service.";
    QuotaExceeded = 1200, "QuotaExceeded", 429, "The month's compute units of this service are used up.";
    QuotaRateLimit = 1201, "QuotaRateLimit", 429, "Too many requests a minute of this project.";
    AtLeastOneKey = 1302, "AtLeastOneKey", 403, "A project keeps at least one active access key.";
    Overloaded = 1901, "Overloaded", 503, "More requests at once than the service takes on; try again shortly.";
    StorageFull = 1902, "StorageFull", 507, "There is no room left to store this; nothing was changed, and reading goes on.";
    StorageUnavailable = 1903, "StorageUnavailable", 503, "The database cannot be reached or written just now; try again shortly.";
    ChainUnavailable = 1904, "ChainUnavailable", 503, "No node of the chain answers just now; try again shortly.";
    Timeout = 2000, "Timeout", 408, "The request took too long.";
    InvalidArgument = 2001, "InvalidArgument", 400, "A member has an impossible value; the message names it.";
    NotFound = 3000, "NotFound", 404, "No such thing.";
    ProjectNotFound = 3002, "ProjectNotFound", 404, "No such project.";
    ChainNotFound = 3003, "ChainNotFound", 400, "The chain is not known by this name or number.";
}

impl Code {
    /// The HTTP status.
    pub fn status(self) -> u16 {
        self.word().status
    }
}

/// An error answer: a code, a sentence to act on, and where it helps the cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What kind of failure.
    pub code: Code,
    /// What went wrong and what to do about it.
    pub message: String,
    /// What a lower layer said, when the caller can use it.
    pub cause: Option<String>,
}

impl Error {
    /// An error of this kind with this sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), cause: None }
    }

    /// The same error with what a lower layer said.
    pub fn with_cause(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// A member of the request has an impossible value.
    pub fn invalid(member: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, format!("{member}: {reason}"))
    }

    /// No such thing, for this caller.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(Code::NotFound, format!("{what} not found"))
    }

    /// Reads an error answer in our own words; `None` when it is none of ours.
    pub fn read(status: u16, body: &[u8]) -> Option<Self> {
        let Envelope { error, message, cause } = serde_json::from_slice(body).ok()?;
        let is_it = |code: &Code| code.word().name == error && code.status() == status;
        Code::ALL.into_iter().find(is_it).map(|code| Self { code, message, cause })
    }

    /// The change contradicts what is stored.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Code::RequestConflict, message)
    }
}

/// What is read of an error answer.
#[derive(serde::Deserialize)]
struct Envelope {
    error: String,
    message: String,
    cause: Option<String>,
}

/// An error as it is answered in some dialect.
pub struct Said<'e>(Dialect, &'e Error);

impl Error {
    /// This error in the words of a dialect.
    pub fn said(&self, dialect: Dialect) -> Said<'_> {
        Said(dialect, self)
    }
}

impl serde::Serialize for Said<'_> {
    /// `msg` and `message` carry the same text: older clients read the one, newer ones the other.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, Error { code, message, cause }) = self;
        let Word { number, name, status } = dialect.word(*code);
        let mut record = serializer.serialize_struct("Error", 6)?;
        record.serialize_field("error", name)?;
        record.serialize_field("code", &number)?;
        record.serialize_field("msg", message)?;
        record.serialize_field("message", message)?;
        match cause {
            Some(cause) => record.serialize_field("cause", cause)?,
            None => record.skip_field("cause")?,
        }
        record.serialize_field("status", &status)?;
        record.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_apart_except_where_only_the_status_differs() {
        let mut seen = std::collections::HashMap::new();
        for code in Code::ALL {
            let Word { number, name, .. } = code.word();
            assert_eq!(*seen.entry(number).or_insert(name), name, "{number} has two names");
        }
        assert_eq!(seen.len(), Code::ALL.len() - 1, "only the two bad requests share a number");
    }

    #[test]
    fn every_error_is_read_as_it_was_written() {
        for code in Code::ALL {
            for error in [Error::new(code, "a \"sentence\""), Error::new(code, "").with_cause("because")] {
                let body = serde_json::to_vec(&error.said(Dialect::House)).unwrap();
                assert_eq!(Error::read(code.status(), &body), Some(error));
            }
        }
        assert_eq!(Error::read(502, b"<html>Bad gateway</html>"), None);
        assert_eq!(
            Error::read(500, &serde_json::to_vec(&Error::not_found("it").said(Dialect::House)).unwrap()),
            None
        );
    }

    /// The page explains more than [`Code::meaning`], so its sentences are its own; its codes are these.
    #[test]
    fn the_page_of_errors_lists_every_code_in_order() {
        let page = include_str!("../../../docs/errors.md").split("## In the words").next().unwrap();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.rsplit_once(" | "));
        let listed: Vec<&str> = rows
            .map(|(code, _)| code)
            .filter(|code| code.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
            .collect();
        let codes = Code::ALL.map(|code| {
            let Word { number, name, status } = code.word();
            format!("{number} | {name} | {status}")
        });
        assert_eq!(listed, codes);
    }

    #[test]
    fn the_envelope() {
        let error = Error::invalid("tokenId", "bad").with_cause("why");
        let expected = r#"{"error":"InvalidArgument","code":2001,"msg":"tokenId: bad","message":"tokenId: bad","cause":"why","status":400}"#;
        assert_eq!(serde_json::to_string(&error.said(Dialect::House)).unwrap(), expected);
        let missing = serde_json::to_value(Error::not_found("it").said(Dialect::Marketplace)).unwrap();
        assert_eq!(
            (&missing["error"], &missing["code"], &missing["status"]),
            (&"NotFound".into(), &2000.into(), &400.into())
        );
    }
}
