//! Why there is no page. Strangers are told what they can act on, in their language, and nothing of what went wrong inside.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bourse_server::entropy;
use bourse_store::StoreError;
use bourse_wire::{Code, Error};

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// There is nothing at this address, or nothing that this shop shows.
    Missing,
    /// This address, or the whole shop, asked for too much in this minute.
    TooMany,
    /// The service cannot answer just now.
    NotNow,
    /// What was asked for is wrong.
    Told(Error),
    /// The shop's key does not let its pages ask what they show, which only whoever runs the shop can change.
    Unfit(Error),
    /// Something that only the log may know.
    Internal(String),
}

/// A refusal on its way to the page that tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) status: StatusCode,
    /// The key of what is said.
    pub(crate) key: &'static str,
    pub(crate) detail: String,
}

impl Refusal {
    pub(crate) fn missing() -> Self {
        Self::Missing
    }

    /// What is wrong with what was asked for, to be shown in its page; anything else is passed on.
    pub(crate) fn told<T>(result: Result<T, Self>) -> Result<Result<T, Error>, Self> {
        match result {
            Ok(value) => Ok(Ok(value)),
            Err(Self::Told(error)) => Ok(Err(error)),
            Err(other) => Err(other),
        }
    }

    /// Nothing of one thing among several that the service cannot tell of, for whatever reason that is its own: the others are told
    /// all the same. What concerns all of them is passed on.
    pub(crate) fn unless_alone<T>(result: Result<T, Self>) -> Result<Option<T>, Self> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Self::Missing | Self::NotNow | Self::Told(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Nothing where there is nothing; anything else is passed on.
    pub(crate) fn unless_missing<T>(result: Result<T, Self>) -> Result<Option<T>, Self> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Self::Missing) => Ok(None),
            Err(other) => Err(other),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.code {
            Code::NotFound | Code::ProjectNotFound | Code::ChainNotFound => Self::Missing,
            Code::QuotaRateLimit | Code::RateLimited | Code::QuotaExceeded => Self::TooMany,
            Code::Overloaded | Code::StorageUnavailable | Code::StorageFull | Code::Timeout => Self::NotNow,
            Code::Unauthorized
            | Code::AccessKeyNotFound
            | Code::AccessKeyMismatch
            | Code::InvalidOrigin
            | Code::InvalidService => Self::Unfit(error),
            Code::Internal => Self::Internal(error.to_string()),
            _ => Self::Told(error),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => error.into(),
            StoreError::Away => Self::NotNow,
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, key, detail) = match self {
            Self::Missing => (StatusCode::NOT_FOUND, "refused.missing", String::new()),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "refused.too_many", String::new()),
            Self::NotNow => (StatusCode::SERVICE_UNAVAILABLE, "refused.not_now", String::new()),
            Self::Told(error) => (StatusCode::BAD_REQUEST, "refused.wrong", error.to_string()),
            Self::Unfit(error) => {
                tracing::warn!(%error, "a shop's access key does not let its pages ask what they show");
                (StatusCode::SERVICE_UNAVAILABLE, "refused.unfit", String::new())
            }
            Self::Internal(source) => {
                let id = entropy::word();
                tracing::error!(request.id = %id, error = %source, "internal error in a shop");
                (StatusCode::INTERNAL_SERVER_ERROR, "refused.internal", id)
            }
        };
        let mut response = status.into_response();
        response.extensions_mut().insert(Shown { status, key, detail });
        response
    }
}
