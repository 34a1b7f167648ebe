//! Charts. What each of them means is one line of the table in [`bourse_analytics::Chart`]; here they are asked for and
//! written down.

pub(crate) mod chart;
pub(crate) mod compute;
pub(crate) mod filter;
pub(crate) mod retention_grid;

use bourse_analytics::Chart;

use crate::call::Call;
use crate::failure::Failure;

use chart::ChartAnswer;
pub(crate) use filter::Request;

/// Answers a chart of wallets or events.
pub(crate) async fn chart(chart: Chart, call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let ask = request.filter.ask(call.now)?;
    let desk = open(&call, chart.needs_sets()).await?;
    let answer = desk.read(|project| project.chart(chart, &ask));
    ChartAnswer::from(answer).write(call.media, chart.member())
}

/// The desk of the caller's project, with counters, and sets if they are needed.
async fn open(call: &Call, needs_sets: bool) -> Result<std::sync::Arc<crate::counting::Desk>, Failure> {
    call.app.counting.open(call.scope(), needs_sets, call.now).await.map_err(|error| (&error).into())
}
