//! Days as numbers, and their labels.

/// The label of the day so many days after 1970-01-01, as `YYYY-MM-DD`.
pub(super) fn label(day: u32) -> String {
    // Eras of 400 years that begin in March, so that the leap day is the last of a year: Howard Hinnant's
    // `civil_from_days`, for days that are not negative.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u32::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

/// Whether a day is a Saturday or a Sunday.
pub(super) fn is_weekend(day: u32) -> bool {
    // 1970-01-01 was a Thursday.
    matches!(day % 7, 2 | 3)
}

#[cfg(test)]
mod tests {
    use super::{is_weekend, label};

    #[test]
    fn days_have_their_dates() {
        let known =
            [(0, "1970-01-01"), (19_782, "2024-02-29"), (19_783, "2024-03-01"), (20_453, "2025-12-31")];
        assert_eq!(known.map(|(day, _)| label(day)), known.map(|(_, date)| date));
    }

    #[test]
    fn the_last_weekend_of_2025() {
        // 2025-12-27 was a Saturday.
        let days: Vec<u32> = (20_447..=20_453).filter(|day| is_weekend(*day)).collect();
        assert_eq!(days.iter().map(|day| label(*day)).collect::<Vec<_>>(), ["2025-12-27", "2025-12-28"]);
    }
}
