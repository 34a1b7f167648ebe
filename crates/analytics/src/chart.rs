//! Which charts there are, and what each of them means.

use crate::calendar::Interval;
use crate::presence::DaySet;

/// What a chart shows of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Wallets in the set on any of the days, each counted once.
    Distinct(DaySet),
    /// Transaction events.
    Transactions,
    /// Market events.
    Trades,
    /// Market events by action.
    TradesByAction,
    /// Wallets whose first-ever active day is in the period.
    New,
    /// Wallets that sent a transaction, of all that were active.
    Conversion,
    /// Of the wallets whose first-ever active day is in the period: those who were active exactly so many days after
    /// it, of all. Wallets whose day has not fully passed are left out of both numbers.
    Retention(i32),
    /// Wallets active on a day, of those active on it or any of the 29 days before it. Over several days both numbers are
    /// added up first, and days that have not begun are left out.
    Stickiness,
    /// Wallets active on a day, on the average of the days that have begun.
    AverageActive,
    /// Wallets in the set on any of the days: those whose first-ever active day is in the same calendar month, of the
    /// others those active in the calendar month before, and the rest.
    Segments(DaySet),
}

/// How a chart cuts the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Not at all: one point, labelled with the first day of the range.
    Whole,
    /// Always so.
    Each(Interval),
    /// So, unless the question asks for another.
    EachOr(Interval),
}

impl Chart {
    /// Whether it is about who did something, and not only about how often it was done: then sets must be loaded.
    pub fn needs_sets(self) -> bool {
        match self.meaning().1 {
            Measure::Transactions | Measure::Trades | Measure::TradesByAction => false,
            Measure::Distinct(_)
            | Measure::New
            | Measure::Conversion
            | Measure::Retention(_)
            | Measure::Stickiness
            | Measure::AverageActive
            | Measure::Segments(_) => true,
        }
    }
}

macro_rules! charts {
    ($($name:ident $member:literal $cut:expr, $measure:expr;)*) => {
        /// A chart of a project's wallets, named like its operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "what a chart means is said by its line in the table")]
        pub enum Chart {
            $($name,)*
        }

        impl Chart {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Name of the operation.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// The member of the response that has the points.
            pub fn member(self) -> &'static str {
                match self {
                    $(Self::$name => $member,)*
                }
            }

            /// How it cuts the range, and what it shows of each period.
            pub fn meaning(self) -> (Cut, Measure) {
                match self {
                    $(Self::$name => ($cut, $measure),)*
                }
            }
        }
    };
}

use Cut::{Each, EachOr, Whole};
use DaySet::{Active, Market, Sent};
use Interval::{Day, Month, Week};
use Measure::{
    AverageActive, Conversion, Distinct, New, Retention, Segments, Stickiness, Trades, TradesByAction,
    Transactions,
};

charts! {
    WalletsTotal "walletStats" Whole, Distinct(Active);
    WalletsDaily "walletStats" EachOr(Day), Distinct(Active);
    WalletsMonthly "walletStats" EachOr(Month), Distinct(Active);
    WalletsTxnSentTotal "walletStats" Whole, Transactions;
    WalletsTxnSentDaily "walletStats" Each(Day), Transactions;
    WalletsTxnSentMonthly "walletStats" Each(Month), Transactions;
    MarketTxnEventTotal "marketStats" Whole, Trades;
    MarketTxnEventDaily "marketStats" Each(Day), TradesByAction;
    MarketTxnEventMonthly "marketStats" Each(Month), Trades;
    MarketWalletsTotal "marketStats" Whole, Distinct(Market);
    MarketWalletsDaily "marketStats" Each(Day), Distinct(Market);
    MarketWalletsMonthly "marketStats" Each(Month), Distinct(Market);
    TotalWalletTxnConversionRate "marketStats" Whole, Conversion;
    DailyWalletTxnConversionRate "marketStats" Each(Day), Conversion;
    MonthlyWalletTxnConversionRate "marketStats" Each(Month), Conversion;
    DailyNewWallets "data" Each(Day), New;
    MonthlyNewWallets "data" Each(Month), New;
    TotalNewWallets "data" Each(Day), New;
    WeeklyActiveWallets "data" Each(Week), Distinct(Active);
    AverageDAU "data" Whole, AverageActive;
    RollingStickiness "data" Each(Day), Stickiness;
    AverageStickiness "data" Whole, Stickiness;
    D1RetentionByCohort "data" Each(Day), Retention(1);
    D3RetentionByCohort "data" Each(Day), Retention(3);
    D7RetentionByCohort "data" Each(Day), Retention(7);
    D14RetentionByCohort "data" Each(Day), Retention(14);
    D28RetentionByCohort "data" Each(Day), Retention(28);
    AverageD1Retention "data" Whole, Retention(1);
    AverageD3Retention "data" Whole, Retention(3);
    AverageD7Retention "data" Whole, Retention(7);
    AverageD14Retention "data" Whole, Retention(14);
    AverageD28Retention "data" Whole, Retention(28);
    MonthlyActiveWalletsBySegment "data" Each(Month), Segments(Active);
    MonthlyTransactingWalletsBySegment "data" Each(Month), Segments(Sent);
}
