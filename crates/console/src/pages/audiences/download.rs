//! The contacts of an audience as a table for spreadsheets.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use bourse_server::Failure;

use super::audience::{View, find};
use super::sheet::guarded;
use crate::Answer;
use crate::access::Member;

pub(super) async fn contacts(member: Member) -> Answer {
    let view = find(&member).await?;
    let table = table(&view).map_err(|error| Failure::Internal(Box::new(error)))?;
    let name = format!("attachment; filename=\"audience-{}.csv\"", view.audience.id);
    let name = HeaderValue::from_str(&name).map_err(|error| Failure::Internal(Box::new(error)))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, table).into_response())
}

fn table(view: &View) -> Result<Vec<u8>, csv::Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["address", "name", "email", "added"])?;
    for contact in &view.contacts {
        let (address, added) = (contact.address.to_string(), contact.created_at.to_string());
        table.write_record([address, guarded(&contact.name), guarded(&contact.email), added])?;
    }
    Ok(table.into_inner().map_err(csv::IntoInnerError::into_error)?)
}
