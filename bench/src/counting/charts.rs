//! The charts, each with the SQL that computes the same from the events.

use super::sql::{Cut, Measure, query};
use Cut::{Daily, Monthly, Weekly, Whole};
use Measure::{
    Active, AverageActive, Compute, Conversion, Grid, MarketWallets, New, Retention, Segments, Stickiness,
    Trades, TradesByAction, Transactions,
};

/// An operation of the Analytics service.
#[derive(Debug)]
pub(crate) struct Chart {
    /// Its path.
    pub(crate) path: &'static str,
    cut: Cut,
    measure: Measure,
}

impl Chart {
    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it is made of events, which is what the comparison with a database is about.
    pub(crate) fn is_of_events(&self) -> bool {
        !matches!(self.measure, Compute { .. })
    }

    /// SQL for its points from these days. The column with the wallets is written as `{wallet}`.
    pub(super) fn sql(&self, first: &str, last: &str) -> String {
        query(self.measure, self.cut, first, last)
    }
}

macro_rules! charts {
    ($($name:literal $cut:expr, $measure:expr;)*) => {
        /// All of them.
        pub(super) const CHARTS: &[Chart] = &[
            $(Chart { path: concat!("/rpc/Analytics/", $name), cut: $cut, measure: $measure },)*
        ];
    };
}

charts! {
    "WalletsTotal" Whole, Active;
    "WalletsDaily" Daily, Active;
    "WalletsMonthly" Monthly, Active;
    "WalletsTxnSentTotal" Whole, Transactions;
    "WalletsTxnSentDaily" Daily, Transactions;
    "WalletsTxnSentMonthly" Monthly, Transactions;
    "MarketTxnEventTotal" Whole, Trades;
    "MarketTxnEventDaily" Daily, TradesByAction;
    "MarketTxnEventMonthly" Monthly, Trades;
    "MarketWalletsTotal" Whole, MarketWallets;
    "MarketWalletsDaily" Daily, MarketWallets;
    "MarketWalletsMonthly" Monthly, MarketWallets;
    "TotalWalletTxnConversionRate" Whole, Conversion;
    "DailyWalletTxnConversionRate" Daily, Conversion;
    "MonthlyWalletTxnConversionRate" Monthly, Conversion;
    "DailyNewWallets" Daily, New;
    "MonthlyNewWallets" Monthly, New;
    "TotalNewWallets" Daily, New;
    "WeeklyActiveWallets" Weekly, Active;
    "AverageDAU" Whole, AverageActive;
    "RollingStickiness" Daily, Stickiness;
    "AverageStickiness" Whole, Stickiness;
    "D1RetentionByCohort" Daily, Retention(1);
    "D3RetentionByCohort" Daily, Retention(3);
    "D7RetentionByCohort" Daily, Retention(7);
    "D14RetentionByCohort" Daily, Retention(14);
    "D28RetentionByCohort" Daily, Retention(28);
    "AverageD1Retention" Whole, Retention(1);
    "AverageD3Retention" Whole, Retention(3);
    "AverageD7Retention" Whole, Retention(7);
    "AverageD14Retention" Whole, Retention(14);
    "AverageD28Retention" Whole, Retention(28);
    "MonthlyActiveWalletsBySegment" Monthly, Segments { sent: false };
    "MonthlyTransactingWalletsBySegment" Monthly, Segments { sent: true };
    "RetentionGrid" Daily, Grid;
    "ComputeByService" Daily, Compute { by_service: true };
    "DailyComputeByService" Daily, Compute { by_service: true };
    "TotalCompute" Whole, Compute { by_service: false };
}
