//! Just enough calendar for RFC 3339 stamps; a date crate would be a lot of code for two functions.

/// Seconds of one day.
pub(super) const DAY_SECONDS: u64 = 86_400;

/// `YYYY-MM-DD` of a count of days since 1970-01-01.
pub(super) fn date(days: u64) -> String {
    // Years start in March here, so that the leap day is the last day of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// RFC 3339 in UTC of a count of seconds since 1970-01-01.
pub(super) fn timestamp(unix: u64) -> String {
    let second = unix % DAY_SECONDS;
    let day = date(unix / DAY_SECONDS);
    format!("{day}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Day of the week of a count of days since 1970-01-01, Monday is 0.
pub(super) fn weekday(days: u64) -> usize {
    // 1970-01-01 was a Thursday.
    usize::try_from((days + 3) % 7).unwrap_or(0)
}
