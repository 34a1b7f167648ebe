//! Compute units: what this service metered of its own calls, and what was reported of others.

use bourse_analytics::{ChartQuery, Usage, compute_by_service, daily_compute_by_service, total_compute};

use super::chart::ChartBody;
use super::filter::Request;
use crate::call::Call;
use crate::failure::Failure;

/// The member of the answer that has the points.
const MEMBER: &str = "computeStats";

pub(crate) async fn by_service(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    answer(call, &request, |usage, ask| ChartBody::Multi(compute_by_service(usage, ask))).await
}

pub(crate) async fn total(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    answer(call, &request, |usage, ask| ChartBody::Series(total_compute(usage, ask))).await
}

pub(crate) async fn daily_by_service(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let series = |usage: &[Usage<'_>], ask: &ChartQuery| {
        ChartBody::Map(daily_compute_by_service(usage, ask).into_iter().collect())
    };
    answer(call, &request, series).await
}

async fn answer(
    call: Call,
    request: &Request,
    chart: impl FnOnce(&[Usage<'_>], &ChartQuery) -> ChartBody,
) -> Result<Vec<u8>, Failure> {
    let ask = request.filter.ask(call.now)?;
    let stored = call.app.store.usage_between(call.scope(), ask.range.first(), ask.range.last()).await?;
    let usage: Vec<Usage<'_>> = stored
        .iter()
        .map(|line| Usage { day: line.day, service: &line.service, units: line.units })
        .collect();
    chart(&usage, &ask).write(call.media, MEMBER)
}
