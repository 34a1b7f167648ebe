//! What a project uses, and what went wrong with its requests.

mod compute;
mod errors;

use maud::{Markup, html};

use crate::access::Member;
use crate::page::Section;
use crate::{Answer, format};

pub(super) async fn show(member: Member) -> Answer {
    let now = member.console().now();
    let compute = compute::of_month(&member, now).await?;
    let body = html! {
        h1 { "Usage" }
        (compute)
        (rate(&member))
        (errors::of_day(&member, now))
    };
    Ok(member.page(Section::Usage, "Usage", &body))
}

fn rate(member: &Member) -> Markup {
    let allowance = member.console().allowance(member.project.id);
    html! {
        section {
            h2 { "Rate limit" }
            @match allowance {
                Some(allowance) => {
                    dl.facts {
                        dt { "Requests a minute" } dd { (format::number(allowance.limit)) }
                        dt { "Left in this minute" } dd {
                            (format::number(allowance.remaining))
                            " (the next minute begins in " (allowance.reset_seconds) " s)"
                        }
                    }
                    p.hint {
                        "All keys and tokens of the project share it, at each server. A request beyond it is refused with code 1201, "
                        "and the header Retry-After tells when to come back."
                    }
                }
                None => p { "This service does not limit how many requests a project sends in a minute." }
            }
        }
    }
}
