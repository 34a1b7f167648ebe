//! Every error that a caller can meet, as a snapshot.

mod credentials;
mod internal;
mod requests;

use std::fmt::Write as _;

use bourse_wire::{Code, Dialect, Error, Word};

#[test]
fn table() {
    let mut text = String::new();
    for code in Code::ALL {
        let Word { number, name, status } = code.word();
        writeln!(text, "{number:>5} {status} {name}").unwrap();
    }
    let error = Error::new(Code::BadRequest, "what went wrong").with_cause("why");
    writeln!(text, "{}", serde_json::to_string_pretty(&error.said(Dialect::House)).unwrap()).unwrap();
    insta::assert_snapshot!(text);
}
