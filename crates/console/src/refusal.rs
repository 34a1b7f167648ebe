//! Why there is no page, as a page.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bourse_server::Failure;
use bourse_store::StoreError;
use bourse_wire::{Code, Error};
use maud::html;

use super::page::bare;
use super::see_other;
use bourse_server::entropy;

/// When to come back while the database cannot be reached, in seconds: as operations say it.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Why a request was not answered as asked.
pub(crate) enum Refusal {
    /// Nobody is signed in. What was asked for is shown afterwards; empty when it was not a page.
    SignIn { next: String },
    /// A link on another site was followed, for which the browser keeps strict cookies to itself. Asked by a page of ours, it
    /// sends them.
    AskAgain { next: String },
    /// What is asked for is not there, or is none of the visitor's business.
    Notice { status: StatusCode, title: &'static str, message: String },
    /// What somebody entered cannot be taken.
    Refused(Error),
    /// The visitor gets an id, the log gets this.
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl Refusal {
    pub(crate) fn missing(what: &str) -> Self {
        let message = format!("There is no such {what}, or it is not for you.");
        Self::Notice { status: StatusCode::NOT_FOUND, title: "Not found", message }
    }

    pub(crate) fn for_owners() -> Self {
        Self::forbidden("Only owners of the project can do this. You can look at it.")
    }

    pub(crate) fn for_administrators() -> Self {
        Self::forbidden("Only administrators of the service can do this.")
    }

    /// That a form did not come from a page of ours, as far as we can tell.
    pub(crate) fn forged() -> Self {
        Self::forbidden(
            "This was not sent from a page of this console, or the page was open for too long. \
            Nothing was changed. Go back, load the page again, and try once more.",
        )
    }

    pub(crate) fn too_many_tries(seconds: u64) -> Self {
        let message = format!("That was tried too often. Try again in {seconds} seconds.");
        Self::Notice { status: StatusCode::TOO_MANY_REQUESTS, title: "Too many tries", message }
    }

    /// That too many codes of one account were tried, from wherever.
    pub(crate) fn too_many_codes() -> Self {
        let message = "Too many codes were tried for this account in this hour. Try again in the next one; if that \
            was not you, somebody knows your password: change it.";
        Self::Notice {
            status: StatusCode::TOO_MANY_REQUESTS,
            title: "Too many tries",
            message: message.to_owned(),
        }
    }

    fn forbidden(message: &str) -> Self {
        Self::Notice { status: StatusCode::FORBIDDEN, title: "Not allowed", message: message.to_owned() }
    }

    /// What is wrong with what was entered, to be shown beside it; anything else is passed on.
    fn into_error(self) -> Result<Error, Self> {
        match self {
            Self::Refused(error) => Ok(error),
            other => Err(other),
        }
    }
}

/// What became of something that somebody entered.
pub(crate) enum Submission<T> {
    Accepted(T),
    /// There is something wrong with it, which is shown beside it.
    Rejected(Error),
}

impl<T> Submission<T> {
    /// Tells what was entered wrongly from everything else, which is passed on.
    pub(crate) fn of(result: Result<T, impl Into<Refusal>>) -> Result<Self, Refusal> {
        match result.map_err(Into::into) {
            Ok(value) => Ok(Self::Accepted(value)),
            Err(refusal) => refusal.into_error().map(Self::Rejected),
        }
    }

    pub(crate) fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Rejected(error) => Err(error),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.code {
            // Nothing is wrong with what was entered.
            Code::StorageFull | Code::StorageUnavailable => {
                let status = StatusCode::from_u16(error.code.status());
                Self::Notice {
                    status: status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
                    title: "Not just now",
                    message: error.to_string(),
                }
            }
            _ => Self::Refused(error),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error.into(),
            Failure::Storage { told, source } => {
                tracing::warn!(error = %source, "a page of the console fails for want of storage");
                told.into()
            }
            Failure::Internal(source) => Self::Internal(source),
            // What pages ask is answered here, so that nobody meets this.
            Failure::HeldElsewhere(key) => Self::Internal(format!("{key} is held elsewhere").into()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Failure::from(error).into()
    }
}

/// A page that goes on to what was asked for.
fn ask_again(next: &str) -> Response {
    let body = html! {
        meta http-equiv="refresh" content={ "0; url=" (next) };
        p { a href=(next) { "Continue to the console" } }
    };
    bare("Continue", &body)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, title, message) = match self {
            Self::SignIn { next } => {
                let query: String =
                    form_urlencoded::Serializer::new(String::new()).append_pair("next", &next).finish();
                let query = if next.is_empty() { String::new() } else { format!("?{query}") };
                return see_other(&format!("/console/sign-in{query}"));
            }
            Self::AskAgain { next } => return ask_again(&next),
            Self::Notice { status, title, message } => (status, title, message),
            Self::Refused(error) => {
                let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::BAD_REQUEST);
                (status, "That did not work", error.to_string())
            }
            Self::Internal(source) => {
                let id = entropy::word();
                tracing::error!(request.id = %id, error = %source, "internal error in the console");
                let message =
                    format!("Something went wrong here. The service's log has the details under {id}.");
                (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong", message)
            }
        };
        let body = html! {
            h1 { (title) }
            p { (message) }
            p { a href="/console" { "Back to the console" } }
        };
        let mut response = (status, bare(title, &body)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        response
    }
}
