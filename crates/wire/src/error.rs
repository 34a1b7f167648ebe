//! Errors as callers see them.

use serde::ser::SerializeStruct;

/// What went wrong, in the numbers that existing clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// No such path.
    BadRoute,
    /// The path exists, the HTTP method is not its own.
    BadMethod,
    /// The body is not JSON, or not of the expected shape.
    BadRequest,
    /// The body is larger than the limit.
    BodyTooLarge,
    /// A handler panicked.
    ServerPanic,
    /// Something failed inside; the log has the details under the id in the message.
    Internal,
    /// No credential, or one that cannot be believed.
    Unauthorized,
    /// The credential is good, but not for this.
    PermissionDenied,
    /// The token's time is over.
    SessionExpired,
    /// The change contradicts what is stored.
    RequestConflict,
    /// Too many requests from one address.
    RateLimited,
    /// The access key is not known, or no longer active.
    AccessKeyNotFound,
    /// Access key and token name different projects.
    AccessKeyMismatch,
    /// The access key is not for this origin.
    InvalidOrigin,
    /// The access key is not for this service.
    InvalidService,
    /// The month's compute units are used up.
    QuotaExceeded,
    /// Too many requests of one project.
    QuotaRateLimit,
    /// A project keeps at least one active access key.
    AtLeastOneKey,
    /// More requests at once than the service takes on.
    Overloaded,
    /// The request took too long.
    Timeout,
    /// A member has a value that is not possible.
    InvalidArgument,
    /// No such thing.
    NotFound,
    /// No such project.
    ProjectNotFound,
    /// The chain is not known.
    ChainNotFound,
}

impl Code {
    /// Every code, for the documentation and its snapshot.
    pub const ALL: [Self; 24] = [
        Self::BadRoute,
        Self::BadMethod,
        Self::BadRequest,
        Self::BodyTooLarge,
        Self::ServerPanic,
        Self::Internal,
        Self::Unauthorized,
        Self::PermissionDenied,
        Self::SessionExpired,
        Self::RequestConflict,
        Self::RateLimited,
        Self::AccessKeyNotFound,
        Self::AccessKeyMismatch,
        Self::InvalidOrigin,
        Self::InvalidService,
        Self::QuotaExceeded,
        Self::QuotaRateLimit,
        Self::AtLeastOneKey,
        Self::Overloaded,
        Self::Timeout,
        Self::InvalidArgument,
        Self::NotFound,
        Self::ProjectNotFound,
        Self::ChainNotFound,
    ];

    /// Number, name and HTTP status.
    pub fn parts(self) -> (i32, &'static str, u16) {
        match self {
            Self::BadRoute => (-2, "WebrpcBadRoute", 404),
            Self::BadMethod => (-3, "WebrpcBadMethod", 405),
            Self::BadRequest => (-4, "WebrpcBadRequest", 400),
            Self::BodyTooLarge => (-4, "WebrpcBadRequest", 413),
            Self::ServerPanic => (-6, "WebrpcServerPanic", 500),
            Self::Internal => (-7, "WebrpcInternalError", 500),
            Self::Unauthorized => (1000, "Unauthorized", 401),
            Self::PermissionDenied => (1001, "PermissionDenied", 403),
            Self::SessionExpired => (1002, "SessionExpired", 403),
            Self::RequestConflict => (1004, "RequestConflict", 409),
            Self::RateLimited => (1007, "RateLimited", 429),
            Self::AccessKeyNotFound => (1101, "AccessKeyNotFound", 401),
            Self::AccessKeyMismatch => (1102, "AccessKeyMismatch", 403),
            Self::InvalidOrigin => (1103, "InvalidOrigin", 403),
            Self::InvalidService => (1104, "InvalidService", 403),
            Self::QuotaExceeded => (1200, "QuotaExceeded", 429),
            Self::QuotaRateLimit => (1201, "QuotaRateLimit", 429),
            Self::AtLeastOneKey => (1302, "AtLeastOneKey", 403),
            Self::Overloaded => (1901, "Overloaded", 503),
            Self::Timeout => (2000, "Timeout", 408),
            Self::InvalidArgument => (2001, "InvalidArgument", 400),
            Self::NotFound => (3000, "NotFound", 404),
            Self::ProjectNotFound => (3002, "ProjectNotFound", 404),
            Self::ChainNotFound => (3003, "ChainNotFound", 400),
        }
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        self.parts().2
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

    /// The change contradicts what is stored.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Code::RequestConflict, message)
    }
}

impl serde::Serialize for Error {
    /// `msg` and `message` carry the same text: older clients read the one, newer ones the other.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (number, name, status) = self.code.parts();
        let mut record = serializer.serialize_struct("Error", 6)?;
        record.serialize_field("error", name)?;
        record.serialize_field("code", &number)?;
        record.serialize_field("msg", &self.message)?;
        record.serialize_field("message", &self.message)?;
        match &self.cause {
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
            let (number, name, _) = code.parts();
            assert_eq!(*seen.entry(number).or_insert(name), name, "{number} has two names");
        }
        assert_eq!(seen.len(), Code::ALL.len() - 1, "only the two bad requests share a number");
    }

    #[test]
    fn the_envelope() {
        let error = Error::invalid("tokenId", "bad").with_cause("why");
        let expected = r#"{"error":"InvalidArgument","code":2001,"msg":"tokenId: bad","message":"tokenId: bad","cause":"why","status":400}"#;
        assert_eq!(serde_json::to_string(&error).unwrap(), expected);
    }
}
