//! The contacts of an audience as a table for spreadsheets.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use bourse_server::Failure;
use bourse_server::spreadsheet::{self, Cell};

use super::audience::{View, find};
use crate::Answer;
use crate::access::Member;

pub(super) async fn contacts(member: Member) -> Answer {
    let view = find(&member).await?;
    let table = spreadsheet::write(rows(&view))?;
    let name = format!("attachment; filename=\"audience-{}.csv\"", view.audience.id);
    let name = HeaderValue::from_str(&name).map_err(|error| Failure::Internal(Box::new(error)))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, table).into_response())
}

fn rows(view: &View) -> Vec<Vec<Cell>> {
    let head = ["address", "name", "email", "added"].map(Cell::from).to_vec();
    let contacts = view.contacts.iter().map(|contact| {
        let (address, added) = (contact.address.to_string(), contact.created_at.to_string());
        vec![address.into(), contact.name.as_str().into(), contact.email.as_str().into(), added.into()]
    });
    std::iter::once(head).chain(contacts).collect()
}
