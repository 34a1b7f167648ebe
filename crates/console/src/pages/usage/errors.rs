//! What became of the project's requests, as this server remembers it.

use bourse_server::outcomes::{ErrorCount, FailedRequest, LastDay, OperationName};
use bourse_wire::{Code, Day, Timestamp, Word};
use maud::{Markup, html};

use crate::access::Member;
use crate::chart::{Amount, Detail, Plot, Series, Step, Style, Timeline, Unit};
use crate::format;

const HOUR_NANOS: i128 = 3600 * 1_000_000_000;

pub(super) fn of_day(member: &Member, now: Timestamp) -> Markup {
    let outcomes = member.console().outcomes();
    let day = outcomes.of(member.project.id, now);
    html! {
        section {
            h2 id="errors" { "Errors of the last 24 hours" }
            p.hint {
                "This is what this server remembers since its start (" (format::time(outcomes.since())) "). Other servers remember "
                "their own, and a restart forgets it. Requests through the console are not counted."
            }
            @match &day {
                Some(day) => (of(day)),
                None => p.empty { "No request of this project came here yet." }
            }
        }
    }
}

fn of(day: &LastDay) -> Markup {
    let (requests, failed) = (day.requests.iter().sum::<u64>(), day.failed.iter().sum::<u64>());
    let [last_requests, last_failed] =
        [&day.requests, &day.failed].map(|hours| hours.last().copied().unwrap_or_default());
    html! {
        dl.tiles {
            div { dt { "Requests" } dd { (format::number(requests)) } }
            div { dt { "Errors" } dd { (format::number(failed)) } }
            (rate("Error rate", failed, requests))
            (rate("Error rate of this hour", last_failed, last_requests))
        }
        @if failed > 0 { (by_hour(day).figure("errors", Detail::Card)) }
        @if !day.kinds.is_empty() { (kinds(&day.kinds, failed)) }
        h3 { "Latest errors" }
        @if day.latest.is_empty() { p.empty { "None." } } @else { (latest(&day.latest)) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody sends 2^53 requests in a day")]
fn rate(name: &str, part: u64, whole: u64) -> Markup {
    let share = (whole > 0).then(|| Amount::Share(part as f64 / whole as f64));
    html! {
        div {
            dt { (name) }
            dd title=[share.map(|_| format!("{part} of {whole}"))] { (Amount::text_or_dash(share)) }
        }
    }
}

fn by_hour(day: &LastDay) -> Plot {
    let label = |index: usize| {
        let at = Timestamp::from_unix_nanos(day.first.unix_nanos() + index as i128 * HOUR_NANOS);
        format!("{}T{:02}", Day::of(at), at.unix_seconds().rem_euclid(86_400) / 3600)
    };
    let values = day.failed.iter().map(|count| Some(Amount::Count((*count).into()))).collect();
    let series = vec![Series { name: String::new(), values }];
    let timeline = Timeline::new(Step::Hour, (0..day.failed.len()).map(label));
    Plot::new(timeline, series, Unit::Count, Style::Bars).with_open_end(true)
}

fn kinds(kinds: &[ErrorCount], failed: u64) -> Markup {
    let counted: u64 = kinds.iter().map(ErrorCount::sum).sum();
    html! {
        h3 { "By operation and code" }
        div.scroll tabindex="0" role="region" aria-label="Errors by operation and code" {
            table.errors {
                thead { tr {
                    th scope="col" { "Operation" } th scope="col" { "Error" }
                    th.number scope="col" { "This hour" } th.number scope="col" { "24 hours" }
                } }
                tbody {
                    @for kind in kinds {
                        tr {
                            td { code { (path(kind.operation)) } }
                            td.kind { (error(kind.operation, kind.code)) }
                            td.number { (format::number(kind.hours.last().copied().unwrap_or_default())) }
                            td.number { (format::number(kind.sum())) }
                        }
                    }
                }
            }
        }
        @if counted < failed { p.hint { (format::number(failed - counted)) " more were of other kinds." } }
    }
}

fn latest(errors: &[FailedRequest]) -> Markup {
    html! {
        p { "The request id is in the header X-Request-Id of the answer; the service's log has internal errors under it." }
        div.scroll tabindex="0" role="region" aria-label="Latest errors" {
            table.errors {
                thead { tr {
                    th scope="col" { "Time" } th scope="col" { "Operation" } th scope="col" { "Error" }
                    th scope="col" { "Message" } th scope="col" { "Request id" }
                } }
                tbody {
                    @for known in errors {
                        tr {
                            td { (format::time(known.at)) }
                            td { code { (path(known.operation)) } }
                            td.kind { (error(known.operation, known.code)) }
                            td.message { (known.message) }
                            td { code { (known.request_id) } }
                        }
                    }
                }
            }
        }
    }
}

fn path((service, operation): OperationName) -> String {
    format!("{}/{operation}", service.name())
}

/// An error in the words in which its caller met it.
fn error((service, _): OperationName, code: Code) -> Markup {
    let Word { number, name, status } = service.dialect().word(code);
    html! { (name) " " span.soft { (number) ", status " (status) } }
}
