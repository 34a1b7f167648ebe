//! What somebody sees who has no events yet.

use maud::{Markup, html};

use crate::access::Member;
use crate::page::copyable;

/// How to send the first event.
pub(super) fn no_events(member: &Member) -> Markup {
    let url = member.console().settings().public_url();
    html! {
        section.empty {
            h2 { "No events yet" }
            p {
                "Charts are made of what wallets do: sessions, transactions and trades. Send one with a "
                a href=(member.path("/credentials")) { "secret token" } " of this project:"
            }
            (copyable("first-event", &command(&url)))
            p {
                "Load this page again after that. Trades in collections that this project puts or links are counted by "
                "themselves."
            }
        }
    }
}

fn command(url: &str) -> String {
    let event = r#"{"wallet":"0x1111111111111111111111111111111111111111","kind":"session"}"#;
    format!(
        "curl -s {url}/rpc/Ingest/TrackEvents \\\n  -H 'Content-Type: application/json' \\\n  \
        -H 'Authorization: Bearer YOUR_SECRET_TOKEN' \\\n  -d '{{\"batchId\":\"first\",\"events\":[{event}]}}'"
    )
}
