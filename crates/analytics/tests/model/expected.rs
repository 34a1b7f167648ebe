//! What each chart should show, from its definition.

use std::collections::{BTreeMap, HashMap};

use bourse_analytics::{Answer, Chart, ChartQuery, Cohort, Interval, MultiPoint, Number, Point};
use bourse_wire::{Address, Day};

use crate::model::{Kind, Model};

type Days = (i32, i32);

/// A question, and the days of it by their numbers.
pub(crate) struct Expected<'a> {
    model: &'a Model,
    query: ChartQuery,
    days: Days,
    first_days: HashMap<Address, i32>,
}

#[expect(clippy::cast_precision_loss, reason = "the model has few events")]
fn fraction(part: usize, whole: usize) -> Number {
    Number::Fraction(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

impl<'a> Expected<'a> {
    pub(crate) fn new(model: &'a Model, query: ChartQuery, days: Days) -> Self {
        Self { model, query, days, first_days: model.first_days() }
    }

    pub(crate) fn answer(&self, chart: Chart) -> Answer {
        let name = chart.name();
        if let Some(number) = name.strip_prefix("AverageD").and_then(|rest| rest.strip_suffix("Retention")) {
            return self.average_retention(number.parse().unwrap());
        }
        if let Some(number) = name.strip_prefix('D').and_then(|rest| rest.strip_suffix("RetentionByCohort")) {
            return self.retention(number.parse().unwrap());
        }
        let regrouped = |own| self.query.interval.unwrap_or(own);
        match name {
            "WalletsTotal" => self.total(self.distinct(Kind::Any, self.days)),
            "WalletsDaily" => self.each(regrouped(Interval::Day), |days| self.distinct(Kind::Any, days)),
            "WalletsMonthly" => self.each(regrouped(Interval::Month), |days| self.distinct(Kind::Any, days)),
            "WeeklyActiveWallets" => self.each(Interval::Week, |days| self.distinct(Kind::Any, days)),
            "WalletsTxnSentTotal" => self.total(self.model.events(Kind::Transaction, self.days)),
            "WalletsTxnSentDaily" => {
                self.each(Interval::Day, |days| self.model.events(Kind::Transaction, days))
            }
            "WalletsTxnSentMonthly" => {
                self.each(Interval::Month, |days| self.model.events(Kind::Transaction, days))
            }
            "MarketTxnEventTotal" => self.total(self.model.events(Kind::Market, self.days)),
            "MarketTxnEventMonthly" => {
                self.each(Interval::Month, |days| self.model.events(Kind::Market, days))
            }
            "MarketTxnEventDaily" => self.actions(),
            "MarketWalletsTotal" => self.total(self.distinct(Kind::Market, self.days)),
            "MarketWalletsDaily" => self.each(Interval::Day, |days| self.distinct(Kind::Market, days)),
            "MarketWalletsMonthly" => self.each(Interval::Month, |days| self.distinct(Kind::Market, days)),
            "TotalWalletTxnConversionRate" => self.conversion(None),
            "DailyWalletTxnConversionRate" => self.conversion(Some(Interval::Day)),
            "MonthlyWalletTxnConversionRate" => self.conversion(Some(Interval::Month)),
            "DailyNewWallets" | "TotalNewWallets" => {
                self.each(Interval::Day, |days| self.cohort(days).len() as u64)
            }
            "MonthlyNewWallets" => self.each(Interval::Month, |days| self.cohort(days).len() as u64),
            "AverageDAU" => self.average_dau(),
            "RollingStickiness" => self.rolling_stickiness(),
            "AverageStickiness" => self.average_stickiness(),
            "MonthlyActiveWalletsBySegment" => self.segments(Kind::Any),
            "MonthlyTransactingWalletsBySegment" => self.segments(Kind::Transaction),
            other => unreachable!("{other}"),
        }
    }

    /// The label of a day's period. Weekdays by counting from a known Monday.
    fn label(interval: Interval, day: i32) -> String {
        let text = Day::from_number(day).to_string();
        match interval {
            Interval::Day => text,
            Interval::Month => text[..7].to_owned(),
            Interval::Week => {
                let known: Day = "2024-01-01".parse().unwrap();
                Day::from_number(day - (day - known.number()).rem_euclid(7)).to_string()
            }
        }
    }

    fn periods(&self, interval: Interval) -> BTreeMap<String, Days> {
        let mut periods: BTreeMap<String, Days> = BTreeMap::new();
        for day in self.days.0..=self.days.1 {
            periods.entry(Self::label(interval, day)).or_insert((day, day)).1 = day;
        }
        periods
    }

    fn distinct(&self, kind: Kind, days: Days) -> u64 {
        self.model.wallets(kind, days).len() as u64
    }

    fn total(&self, count: u64) -> Answer {
        self.single(Number::Count(count))
    }

    fn single(&self, value: Number) -> Answer {
        Answer::Series(vec![Point { label: Self::label(Interval::Day, self.days.0), value }])
    }

    fn each(&self, interval: Interval, count: impl Fn(Days) -> u64) -> Answer {
        let periods = self.periods(interval).into_iter().map(|(label, days)| (label, count(days)));
        let shown = periods.filter(|(_, count)| *count > 0 || self.query.fill);
        Answer::Series(shown.map(|(label, count)| Point { label, value: Number::Count(count) }).collect())
    }

    fn actions(&self) -> Answer {
        let periods = self.periods(Interval::Day).into_iter();
        let points = periods.map(|(label, days)| MultiPoint { label, values: self.model.actions(days) });
        let mut points: Vec<MultiPoint> =
            points.filter(|point| !point.values.is_empty() || self.query.fill).collect();
        if self.query.fill {
            for name in self.model.actions(self.days).into_keys() {
                for point in &mut points {
                    point.values.entry(name.clone()).or_default();
                }
            }
        }
        Answer::Multi(points)
    }

    fn conversion(&self, interval: Option<Interval>) -> Answer {
        let whole = BTreeMap::from([(Self::label(Interval::Day, self.days.0), self.days)]);
        let mut points = Vec::new();
        for (label, days) in interval.map_or(whole, |interval| self.periods(interval)) {
            let active = self.model.wallets(Kind::Any, days).len();
            let sent = self.model.wallets(Kind::Transaction, days).len();
            if active > 0 || self.query.fill {
                points.push(Point { label, value: fraction(sent, active) });
            }
        }
        Answer::Series(points)
    }

    fn cohort(&self, (first, last): Days) -> Vec<Address> {
        let new = self.first_days.iter().filter(|(_, day)| (first..=last).contains(*day));
        new.map(|(wallet, _)| *wallet).collect()
    }

    fn came_back(&self, cohort: &[Address], day: i32) -> usize {
        let active = self.model.wallets(Kind::Any, (day, day));
        cohort.iter().filter(|wallet| active.contains(*wallet)).count()
    }

    fn retention(&self, after: i32) -> Answer {
        let mut points = Vec::new();
        for day in (self.days.0..=self.days.1).take_while(|day| day + after < self.query.today.number()) {
            let cohort = self.cohort((day, day));
            if !cohort.is_empty() || self.query.fill {
                let value = fraction(self.came_back(&cohort, day + after), cohort.len());
                points.push(Point { label: Self::label(Interval::Day, day), value });
            }
        }
        Answer::Series(points)
    }

    fn average_retention(&self, after: i32) -> Answer {
        let (mut part, mut whole, mut known) = (0, 0, false);
        for day in (self.days.0..=self.days.1).take_while(|day| day + after < self.query.today.number()) {
            let cohort = self.cohort((day, day));
            part += self.came_back(&cohort, day + after);
            whole += cohort.len();
            known = true;
        }
        if known && (whole > 0 || self.query.fill) {
            self.single(fraction(part, whole))
        } else {
            Answer::Series(Vec::new())
        }
    }

    fn begun(&self) -> Vec<i32> {
        (self.days.0..=self.days.1.min(self.query.today.number())).collect()
    }

    fn average_dau(&self) -> Answer {
        let begun = self.begun();
        let sum = begun.iter().map(|day| self.model.wallets(Kind::Any, (*day, *day)).len()).sum();
        if begun.is_empty() { Answer::Series(Vec::new()) } else { self.single(fraction(sum, begun.len())) }
    }

    fn stickiness(&self, day: i32) -> (usize, usize) {
        let [today, month] = [day, day - 29].map(|first| self.model.wallets(Kind::Any, (first, day)).len());
        (today, month)
    }

    fn rolling_stickiness(&self) -> Answer {
        let days = self.begun().into_iter().map(|day| (day, self.stickiness(day)));
        let shown = days.filter(|(_, (today, _))| *today > 0 || self.query.fill);
        let point = |(day, (today, month))| Point {
            label: Self::label(Interval::Day, day),
            value: fraction(today, month),
        };
        Answer::Series(shown.map(point).collect())
    }

    fn average_stickiness(&self) -> Answer {
        let days: Vec<(usize, usize)> = self.begun().into_iter().map(|day| self.stickiness(day)).collect();
        let (today, month) = (days.iter().map(|day| day.0).sum(), days.iter().map(|day| day.1).sum());
        if days.is_empty() || (today == 0 && !self.query.fill) {
            return Answer::Series(Vec::new());
        }
        self.single(fraction(today, month))
    }

    fn segments(&self, kind: Kind) -> Answer {
        let mut series = [const { Vec::new() }; 3];
        for (label, days) in self.periods(Interval::Month) {
            let begin = Day::from_number(days.0).first_of_month().number();
            let previous = Day::from_number(begin - 1).first_of_month().number();
            let before = self.model.wallets(Kind::Any, (previous, begin - 1));
            let mut counts = [0; 3];
            for wallet in self.model.wallets(kind, days) {
                let new = self.first_days[&wallet] >= begin;
                counts[if new {
                    0
                } else if before.contains(&wallet) {
                    1
                } else {
                    2
                }] += 1;
            }
            if counts != [0; 3] || self.query.fill {
                for (series, count) in series.iter_mut().zip(counts) {
                    series.push(Point { label: label.clone(), value: Number::Count(count) });
                }
            }
        }
        Answer::Map(["new", "previousMonth", "older"].into_iter().zip(series).collect())
    }

    pub(crate) fn grid(&self, days: i32) -> Vec<Cohort> {
        let mut cohorts = Vec::new();
        for first in self.days.0..=self.days.1 {
            let new = self.cohort((first, first));
            let passed = (first..=first + days).filter(|day| *day < self.query.today.number());
            let returned = passed.map(|day| self.came_back(&new, day) as u64).collect();
            if !new.is_empty() || self.query.fill {
                let label = Self::label(Interval::Day, first);
                cohorts.push(Cohort { label, size: new.len() as u64, returned });
            }
        }
        cohorts
    }
}
