//! Charts. What each of them means is one line of the table in [`bourse_analytics::Chart`]; here they are asked for and
//! written down.

mod chart;
mod compute;
mod filter;
mod retention_grid;

use std::collections::BTreeMap;

use bourse_analytics::Chart;
use schemars::JsonSchema;

use crate::call::Call;
use crate::failure::Failure;
use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Analytics;
use chart::{ChartBody, CohortAnswer, MultiPointAnswer, PointAnswer};
use filter::Request;

/// A range of the demo's data to try charts with.
const EXAMPLE: &str = r#"{"filter":{"startDate":"2026-01-01","endDate":"2026-12-31"}}"#;

/// What an answer looks like: its points under one member.
macro_rules! answers {
    ($($name:ident $member:ident $points:ty;)*) => {$(
        #[derive(JsonSchema)]
        #[schemars(rename_all = "camelCase")]
        #[expect(dead_code, reason = "documents what is written point by point")]
        struct $name {
            /// The points, in the order of time.
            $member: $points,
        }
    )*};
}

answers! {
    WalletStatsAnswer wallet_stats Vec<PointAnswer<'static>>;
    MarketStatsAnswer market_stats Vec<PointAnswer<'static>>;
    MarketActionsAnswer market_stats Vec<MultiPointAnswer<'static>>;
    ChartAnswer data Vec<PointAnswer<'static>>;
    SegmentsAnswer data BTreeMap<String, Vec<PointAnswer<'static>>>;
    TotalComputeAnswer compute_stats Vec<PointAnswer<'static>>;
    ComputeByServiceAnswer compute_stats Vec<MultiPointAnswer<'static>>;
    DailyComputeByServiceAnswer compute_stats BTreeMap<String, Vec<PointAnswer<'static>>>;
    RetentionGridAnswer data Vec<CohortAnswer<'static>>;
}

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = vec![
        Analytics.reads_raw::<_, ComputeByServiceAnswer, _, _>(
            "ComputeByService",
            SecretToken,
            "Compute units of each service, by day unless asked otherwise.",
            compute::by_service,
        ),
        Analytics.reads_raw::<_, TotalComputeAnswer, _, _>(
            "TotalCompute",
            SecretToken,
            "Compute units of all services together.",
            compute::total,
        ),
        Analytics.reads_raw::<_, DailyComputeByServiceAnswer, _, _>(
            "DailyComputeByService",
            SecretToken,
            "Compute units by day, a series for each service.",
            compute::daily_by_service,
        ),
        Analytics.reads_raw::<_, RetentionGridAnswer, _, _>(
            "RetentionGrid",
            SecretToken,
            "How many of each day's new wallets were active on each of the days after it.",
            retention_grid::handle,
        ),
    ];
    operations.extend(Chart::ALL.iter().map(|chart| route(*chart)));
    operations.into_iter().map(|route| route.example(EXAMPLE).tabular()).collect()
}

fn route(chart: Chart) -> Route {
    match chart {
        Chart::MarketTxnEventDaily => answering::<MarketActionsAnswer>(chart),
        Chart::MonthlyActiveWalletsBySegment | Chart::MonthlyTransactingWalletsBySegment => {
            answering::<SegmentsAnswer>(chart)
        }
        _ => match chart.member() {
            "walletStats" => answering::<WalletStatsAnswer>(chart),
            "marketStats" => answering::<MarketStatsAnswer>(chart),
            _ => answering::<ChartAnswer>(chart),
        },
    }
}

fn answering<A: JsonSchema>(chart: Chart) -> Route {
    Analytics.reads_raw::<Request, A, _, _>(
        chart.name(),
        SecretToken,
        summary(chart),
        move |call, request| self::chart(chart, call, request),
    )
}

fn summary(chart: Chart) -> &'static str {
    match chart {
        Chart::WalletsTotal => "Wallets that were active in the range, each counted once.",
        Chart::WalletsDaily => "Active wallets by day, or by week or month when asked.",
        Chart::WalletsMonthly => "Active wallets by month, or by day or week when asked.",
        Chart::WalletsTxnSentTotal => "Transactions sent in the range.",
        Chart::WalletsTxnSentDaily => "Transactions sent by day.",
        Chart::WalletsTxnSentMonthly => "Transactions sent by month.",
        Chart::MarketTxnEventTotal => "Market events in the range.",
        Chart::MarketTxnEventDaily => "Market events by day and action.",
        Chart::MarketTxnEventMonthly => "Market events by month.",
        Chart::MarketWalletsTotal => "Wallets with a market event in the range, each counted once.",
        Chart::MarketWalletsDaily => "Wallets with a market event, by day.",
        Chart::MarketWalletsMonthly => "Wallets with a market event, by month.",
        Chart::TotalWalletTxnConversionRate => {
            "Wallets that sent a transaction, of those active in the range."
        }
        Chart::DailyWalletTxnConversionRate => "Wallets that sent a transaction, of those active, by day.",
        Chart::MonthlyWalletTxnConversionRate => {
            "Wallets that sent a transaction, of those active, by month."
        }
        Chart::DailyNewWallets | Chart::TotalNewWallets => "New wallets by day.",
        Chart::MonthlyNewWallets => "New wallets by month.",
        Chart::WeeklyActiveWallets => "Active wallets by week.",
        Chart::AverageDAU => "Wallets active on a day, on average.",
        Chart::RollingStickiness => "Wallets active on a day, of those active in the 30 days up to it.",
        Chart::AverageStickiness => "The same over the whole range.",
        Chart::D1RetentionByCohort => "Share of a day's new wallets that came back the next day.",
        Chart::D3RetentionByCohort => "Share of a day's new wallets that came back three days later.",
        Chart::D7RetentionByCohort => "Share of a day's new wallets that came back seven days later.",
        Chart::D14RetentionByCohort => "Share of a day's new wallets that came back 14 days later.",
        Chart::D28RetentionByCohort => "Share of a day's new wallets that came back 28 days later.",
        Chart::AverageD1Retention => "Share of all new wallets of the range that came back the next day.",
        Chart::AverageD3Retention => "Share of all new wallets of the range that came back three days later.",
        Chart::AverageD7Retention => "Share of all new wallets of the range that came back seven days later.",
        Chart::AverageD14Retention => "Share of all new wallets of the range that came back 14 days later.",
        Chart::AverageD28Retention => "Share of all new wallets of the range that came back 28 days later.",
        Chart::MonthlyActiveWalletsBySegment => "Active wallets by month, told apart by when they came.",
        Chart::MonthlyTransactingWalletsBySegment => {
            "Wallets that sent a transaction, by month, told apart by when they came."
        }
    }
}

/// Answers a chart of wallets or events.
async fn chart(chart: Chart, call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let ask = request.filter.ask(call.now)?;
    let desk = open(&call, chart.needs_sets()).await?;
    let answer = desk.read(|project| project.chart(chart, &ask));
    ChartBody::from(answer).write(call.media, chart.member())
}

/// The desk of the caller's project, with counters, and sets if they are needed.
async fn open(call: &Call, needs_sets: bool) -> Result<std::sync::Arc<bourse_counting::Desk>, Failure> {
    let patience = call.app.settings.limits.load_patience();
    let opened = call.app.counting.open(call.scope(), needs_sets, call.now, patience).await;
    opened.map_err(|error| (&error).into())
}
