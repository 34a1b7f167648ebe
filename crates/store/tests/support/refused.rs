//! What a refusal says.

use std::fmt::Debug;

use bourse_store::StoreError;
use bourse_wire::Code;

/// The code of a refusal; anything else fails the test.
#[track_caller]
pub(crate) fn code<T: Debug>(result: Result<T, StoreError>) -> Code {
    match result {
        Err(StoreError::Refused(error)) => error.code,
        other => panic!("expected a refusal, got {other:?}"),
    }
}
