//! Bodies of requests: read within bounds, of which one is the memory that all of them take together.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::{HeaderMap, header};
use bourse_wire::{Code, Error, ProjectId};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::app::App;
use crate::door::Refusal;
use crate::shares::Share;

/// Bodies up to this are not counted: as many as there are connections fit into memory.
const SMALL_BYTES: usize = 8 * 1024;
/// A body that was read, and its share of the memory for bodies.
pub struct ReceivedBody {
    /// What was sent.
    pub bytes: Bytes,
    _memory: Option<Share>,
}

/// The share of a body in the memory for bodies, as it grows.
pub struct BodyMemory<'a> {
    app: &'a App,
    owner: Option<ProjectId>,
    share: Option<Share>,
}

impl<'a> BodyMemory<'a> {
    /// Of a body that costs a project, or nobody in particular.
    pub(crate) fn new(app: &'a App, owner: Option<ProjectId>) -> Self {
        Self { app, owner, share: None }
    }

    /// Makes room for a body that has so many bytes by now.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Error> {
        if bytes <= SMALL_BYTES {
            return Ok(());
        }
        let held = match &mut self.share {
            Some(share) => share.grow_to(bytes),
            None => self.app.bodies.take(self.owner, bytes).map(|share| self.share = Some(share)),
        };
        held.map_err(|_| {
            self.app.refusals.note(Refusal::Bodies);
            Error::new(Code::Overloaded, "the service is reading as much as it can: try again in a second")
        })
    }
}

/// Reads a body of at most so many bytes, at the expense of a project where it is of one.
pub(crate) async fn read_body(
    app: &App,
    owner: Option<ProjectId>,
    headers: &HeaderMap,
    body: &mut Body,
    bytes_max: usize,
) -> Result<ReceivedBody, Error> {
    let too_large = || {
        let message = format!("the body is larger than {bytes_max} bytes");
        Error::new(Code::BodyTooLarge, message)
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > bytes_max as u64) {
        return Err(too_large());
    }
    let mut memory = BodyMemory::new(app, owner);
    let mut body = Limited::new(body, bytes_max);
    let (mut first, mut whole) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                too_large()
            } else {
                Error::new(Code::BadRequest, "the body could not be read").with_cause(error.to_string())
            }
        })?;
        let Ok(data) = frame.into_data() else { continue };
        memory.hold(first.len().max(whole.len()) + data.len())?;
        // Most bodies come in one piece, which is then taken as it is.
        if first.is_empty() {
            first = data;
        } else {
            if whole.is_empty() {
                whole.extend_from_slice(&first);
            }
            whole.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    let bytes = if whole.is_empty() { first } else { whole.into() };
    Ok(ReceivedBody { bytes, _memory: memory.share })
}
