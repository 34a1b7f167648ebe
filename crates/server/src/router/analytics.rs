//! Charts.

use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Analytics;

pub(super) fn operations() -> Vec<Route> {
    let planned = |name, summary| Route::planned((Analytics, name), SecretToken, summary);
    vec![
        planned("ComputeByService", "Compute units by service."),
        planned("WalletsMonthly", "Active wallets by month."),
        planned("WalletsDaily", "Active wallets by day."),
        planned("WalletsTxnSentDaily", "Transactions sent by day."),
        planned("MarketWalletsDaily", "Wallets that bought or sold, by day."),
        planned("MarketWalletsMonthly", "Wallets that bought or sold, by month."),
        planned("D7RetentionByCohort", "Share of a day's new wallets that came back seven days later."),
        planned("D1RetentionByCohort", "Share of a day's new wallets that came back the next day."),
        planned("TotalNewWallets", "New wallets by day."),
    ]
}
