//! Analytics: who was active on which day, as sets of wallet numbers, and every chart as an expression of them, so that
//! it is exact, cheap, and follows late events. Pure: no I/O, no clock.
//!
//! A [`Project`] is what charts are made of, and is asked by [`Project::chart`] and [`Project::retention_grid`].
//! [`Wallets`] has the numbers of the addresses, which only counting needs. Both come from what is stored, by `load`.
//! [`Project::prepare`] tells what a batch of events changes; when that is stored, [`Project::publish`] takes it in, and
//! other processes take the same chunks in by `load`.

mod answer;
mod calendar;
mod changes;
mod chart;
mod column;
mod compute;
mod corrupt;
mod counters;
mod counting_calendar;
mod key;
mod memo;
mod presence;
mod project;
mod recount;
mod wallets;

pub use answer::{Answer, ChartQuery, Cohort, GRID_DAYS_MAX, MultiPoint, Number, Point, SEGMENTS};
pub use calendar::{Interval, Range, RangeError};
pub use changes::{Changes, Event, EventDetail, EventRefusal, WalletRemoval, is_countable};
pub use chart::{Chart, Cut, Measure};
pub use compute::{Usage, compute_by_service, daily_compute_by_service, total_compute};
pub use corrupt::Corrupt;
pub use counters::OTHER_ACTION;
pub use counting_calendar::CountingCalendar;
pub use key::Key;
pub use presence::DaySet;
pub use project::{Chunk, Project};
pub use recount::{Recount, Shortfall};
pub use wallets::Wallets;
