//! Compute units of the month, against what there is of them.

use std::collections::BTreeMap;

use bourse_server::Service;
use bourse_wire::{Day, Timestamp};
use maud::{Markup, html};
use serde_json::json;

use crate::access::Member;
use crate::chart::Detail;
use crate::format;
use crate::pages::analytics;
use crate::refusal::Refusal;

/// What there is of a service in a month.
struct Line {
    service: Service,
    /// Everything, also what was reported of other places.
    used: u64,
    /// What counts against the quota.
    metered: u64,
    /// 0 for no limit.
    quota: u64,
}

pub(super) async fn of_month(member: &Member, now: Timestamp) -> Result<Markup, Refusal> {
    let today = Day::of(now);
    let first = today.first_of_month();
    let lines = lines(member, first, now).await?;
    let plot = analytics::compute_by_day(member, first, today).await?;
    let next = Day::from_number(first.number() + 31).first_of_month();
    Ok(html! {
        section {
            h2 id="compute" { "Compute units of this month" }
            p {
                "Every request costs units of its service. Since " (first) ", until " (next) " (UTC). "
                a href=(member.path("/analytics?about=compute")) { "More days" }
            }
            div.scroll tabindex="0" role="region" aria-labelledby="compute" {
                table {
                    thead { tr {
                        th scope="col" { "Service" } th.number scope="col" { "Used" }
                        th.number scope="col" { "Counted against the quota" } th.number scope="col" { "Quota" }
                        th.number scope="col" { "Left" } th scope="col" { "Used of the quota" }
                    } }
                    tbody { @for line in &lines { (row(line)) } }
                }
            }
            p.hint { "Used includes what was imported as usage of other places. Only what this service metered counts against a quota." }
            @if !plot.is_empty() { (plot.figure("compute", Detail::Card)) }
        }
    })
}

async fn lines(member: &Member, first: Day, now: Timestamp) -> Result<Vec<Line>, Refusal> {
    let console = member.console();
    // What was metered until a moment ago is still in memory only.
    console.store_usage().await?;
    let metered: BTreeMap<String, u64> =
        console.store().metered_of(member.scope(), first).await?.into_iter().collect();
    let filter = json!({ "startDate": first, "endDate": Day::of(now), "dateInterval": "MONTH" });
    let answer = member.ask("Analytics/ComputeByService", &json!({ "filter": filter })).await?;
    let used = &answer["computeStats"][0]["value"];
    let line = |service: Service| Line {
        service,
        used: used[service.short()].as_u64().unwrap_or_default(),
        metered: metered.get(service.short()).copied().unwrap_or_default(),
        quota: console.quota(service),
    };
    Ok(Service::ALL.into_iter().map(line).collect())
}

fn row(line: &Line) -> Markup {
    let (name, id) = (line.service.name(), format!("quota-{}", line.service.short()));
    html! {
        tr {
            th scope="row" id=(id) { (name) }
            td.number { (format::number(line.used)) }
            td.number { (format::number(line.metered)) }
            @if line.quota == 0 {
                td.number { "no limit" } td.number.soft { "–" } td.soft { "–" }
            } @else {
                td.number { (format::number(line.quota)) }
                td.number { (format::number(line.quota.saturating_sub(line.metered))) }
                td {
                    meter min="0" max=(line.quota) high=(line.quota / 10 * 8) optimum="0" value=(line.metered.min(line.quota))
                        aria-labelledby=(id) {}
                    " " (line.metered.saturating_mul(100) / line.quota) "%"
                }
            }
        }
    }
}
