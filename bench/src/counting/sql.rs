//! The SQL that computes charts straight from the table of events, as somebody would write it who wants it to be fast.
//!
//! Every query gives rows of a series' name, which is empty for a chart with one series, a label and a value. Fractions
//! divide the same two integers that Bourse divides, so that both round once and to the same number.

/// What a chart shows of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Different wallets.
    Active,
    /// Different wallets with a market event.
    MarketWallets,
    /// Transaction events.
    Transactions,
    /// Market events.
    Trades,
    /// Market events by action.
    TradesByAction,
    /// Wallets whose first day it is.
    New,
    /// Wallets that sent a transaction, of the active ones.
    Conversion,
    /// New wallets that came so many days later, of all new ones.
    Retention(u32),
    /// Wallets of a day, of those of the 30 days up to it.
    Stickiness,
    /// Wallets of a day, on average.
    AverageActive,
    /// Wallets that are new this month, that came in the month before, and others.
    Segments {
        /// Only those that sent a transaction this month.
        sent: bool,
    },
    /// New wallets, and how many of them came on each of the 28 days after.
    Grid,
    /// Compute units, which are not made of events.
    Compute {
        /// Each service by itself.
        by_service: bool,
    },
}

/// How the range is cut into periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    Whole,
    Daily,
    Weekly,
    Monthly,
}

/// What makes a wallet new, for the queries that need to know.
const FIRSTS: &str = "firsts AS (SELECT {wallet} AS wallet, min(day) AS first FROM events GROUP BY ALL)";

/// The days of each wallet.
const PRESENCE: &str = "presence AS (SELECT DISTINCT {wallet} AS wallet, day FROM events)";

/// The query for a chart of the days from `first` to `last`.
pub(super) fn query(measure: Measure, cut: Cut, first: &str, last: &str) -> String {
    let body = match measure {
        Measure::Active => distinct("TRUE"),
        Measure::MarketWallets => distinct("kind = 'market'"),
        Measure::Transactions => events("kind = 'transaction'"),
        Measure::Trades => events("kind = 'market'"),
        Measure::TradesByAction => {
            "SELECT CAST(action AS VARCHAR) AS series, {period} AS period, count(*) AS value \
             FROM events WHERE kind = 'market' GROUP BY ALL"
                .to_owned()
        }
        Measure::New => format!(
            "WITH {FIRSTS} SELECT '' AS series, {{period_of_first}} AS period, count(*) AS value FROM firsts GROUP BY ALL"
        ),
        Measure::Conversion => "SELECT '' AS series, period, \
             CAST(count(*) FILTER (sent) AS DOUBLE) / CAST(count(*) AS DOUBLE) AS value \
             FROM (SELECT {wallet} AS wallet, {period} AS period, bool_or(kind = 'transaction') AS sent \
             FROM events GROUP BY ALL) GROUP BY ALL"
            .to_owned(),
        Measure::Retention(days) => retention(days),
        Measure::Stickiness => stickiness(last),
        Measure::AverageActive => format!(
            "WITH {PRESENCE} SELECT '' AS series, {{period}} AS period, \
             CAST(count(*) AS DOUBLE) / CAST(DATE '{last}' - DATE '{first}' + 1 AS DOUBLE) AS value \
             FROM presence GROUP BY ALL"
        ),
        Measure::Segments { sent } => segments(sent),
        Measure::Grid => grid(),
        Measure::Compute { by_service } => {
            let series = if by_service { "service" } else { "''" };
            format!(
                "SELECT {series} AS series, {{period}} AS period, CAST(sum(units) AS BIGINT) AS value \
                 FROM usage GROUP BY ALL"
            )
        }
    };
    let period = |day: &str| match cut {
        Cut::Whole => format!("DATE '{first}'"),
        Cut::Daily => day.to_owned(),
        Cut::Weekly => format!("CAST(date_trunc('week', {day}) AS DATE)"),
        Cut::Monthly => format!("CAST(date_trunc('month', {day}) AS DATE)"),
    };
    let format = if cut == Cut::Monthly { "%Y-%m" } else { "%Y-%m-%d" };
    let body = body.replace("{period}", &period("day")).replace("{period_of_first}", &period("first"));
    format!("SELECT series, strftime(period, '{format}') AS label, value FROM ({body})")
}

/// Different wallets, in two steps: mostly a little faster than `count(DISTINCT ...)`, and never much slower.
fn distinct(condition: &str) -> String {
    format!(
        "SELECT '' AS series, period, count(*) AS value FROM \
         (SELECT DISTINCT {{wallet}} AS wallet, {{period}} AS period FROM events WHERE {condition}) GROUP BY ALL"
    )
}

fn events(condition: &str) -> String {
    format!(
        "SELECT '' AS series, {{period}} AS period, count(*) AS value FROM events WHERE {condition} GROUP BY ALL"
    )
}

fn retention(days: u32) -> String {
    format!(
        "WITH {FIRSTS}, \
         sizes AS (SELECT first, count(*) AS size FROM firsts GROUP BY ALL), \
         returned AS (SELECT first, count(DISTINCT firsts.wallet) AS returned FROM firsts \
             JOIN events ON events.{{wallet}} = firsts.wallet AND events.day = firsts.first + {days} GROUP BY ALL) \
         SELECT '' AS series, {{period_of_first}} AS period, \
             CAST(coalesce(sum(returned), 0) AS DOUBLE) / CAST(sum(size) AS DOUBLE) AS value \
         FROM sizes LEFT JOIN returned USING (first) GROUP BY ALL"
    )
}

/// A wallet is one of a day's last 30 from each day it came until it came again, or until 30 days later: those who
/// begin and end that are added up from day to day. This is linear, where comparing every day with 30 is not. Every
/// day has wallets that are new, so none is missing.
fn stickiness(last: &str) -> String {
    format!(
        "WITH {PRESENCE}, \
         spans AS (SELECT day, least(day + 30, coalesce(lead(day) OVER (PARTITION BY wallet ORDER BY day), day + 30)) \
             AS stop FROM presence), \
         changes AS (SELECT day, sum(change) AS change, sum(active) AS active FROM \
             (SELECT day, count(*) AS change, count(*) AS active FROM spans GROUP BY ALL \
             UNION ALL SELECT stop AS day, -count(*) AS change, 0 AS active FROM spans GROUP BY ALL) GROUP BY ALL), \
         rolling AS (SELECT day, active, sum(change) OVER (ORDER BY day) AS rolling FROM changes) \
         SELECT '' AS series, {{period}} AS period, CAST(sum(active) AS DOUBLE) / CAST(sum(rolling) AS DOUBLE) AS value \
         FROM rolling WHERE day <= DATE '{last}' GROUP BY ALL"
    )
}

fn segments(sent: bool) -> String {
    let condition = if sent { "sent" } else { "TRUE" };
    format!(
        "WITH months AS (SELECT {{wallet}} AS wallet, {{period}} AS period, \
             bool_or(kind = 'transaction') AS sent FROM events GROUP BY ALL), \
         known AS (SELECT period, sent, min(period) OVER wallets = period AS is_new, \
             lag(period) OVER (wallets ORDER BY period) = period - INTERVAL 1 MONTH AS came_before \
             FROM months WINDOW wallets AS (PARTITION BY wallet)) \
         SELECT unnest(['new', 'previousMonth', 'older']) AS series, period, unnest(counts) AS value FROM \
             (SELECT period, [count(*) FILTER (is_new), count(*) FILTER (NOT is_new AND came_before), \
             count(*) FILTER (NOT is_new AND NOT came_before)] AS counts \
             FROM known WHERE {condition} GROUP BY ALL)"
    )
}

fn grid() -> String {
    format!(
        "WITH {FIRSTS}, {PRESENCE}, \
         sizes AS (SELECT first, count(*) AS size FROM firsts GROUP BY ALL), \
         returned AS (SELECT first, day - first AS age, count(*) AS returned FROM presence \
             JOIN firsts USING (wallet) WHERE day - first <= 28 GROUP BY ALL), \
         ages AS (SELECT unnest(range(29)) AS age) \
         SELECT 'size' AS series, first AS period, size AS value FROM sizes \
         UNION ALL SELECT 'd' || age AS series, first AS period, coalesce(returned, 0) AS value \
         FROM sizes CROSS JOIN ages LEFT JOIN returned USING (first, age)"
    )
}
