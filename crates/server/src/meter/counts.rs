//! What a server counted, and how much of it is stored for certain.

use bourse_store::MeteredLine;
use bourse_wire::{Day, ProjectId};
use hashbrown::HashMap;

use crate::route::Service;

/// Projects that are stored in one transaction.
const PROJECTS_PER_WRITE: usize = 200;

#[derive(Default)]
pub(super) struct Counts {
    /// Those of which something may have to be stored or read.
    projects: HashMap<ProjectId, Metered>,
    /// How many counters there have been; each has its number in its name.
    counters: u64,
    /// How often it was asked what waits.
    turns: usize,
    /// The month that `used` is of.
    month: Option<Day>,
    /// In the store, or on its way there.
    used: HashMap<(ProjectId, Service), u64>,
}

/// What is counted here of a project.
#[derive(Default)]
struct Metered {
    counters: Vec<Counter>,
    /// How often it was told since it was last known to be stored: where it was, nobody knows whether it is.
    tries: u32,
    /// Whether it has a quota, and was used here since it was last read what it used anywhere.
    is_charged: bool,
}

/// What is counted here of a service on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    service: Service,
    day: Day,
    number: u64,
    /// Units that it counted.
    counted: u64,
    /// As many of them as are stored for certain.
    stored: u64,
}

impl Counter {
    fn pending(&self) -> u64 {
        self.counted - self.stored
    }

    /// As it is told, by a server of this name.
    pub(super) fn line(&self, project: ProjectId, server: &str) -> MeteredLine {
        let counter = format!("{server}-{}", self.number);
        MeteredLine {
            project,
            service: self.service.short().to_owned(),
            day: self.day,
            counter,
            units: self.counted,
        }
    }
}

impl Metered {
    fn is_waiting(&self) -> bool {
        self.is_charged || self.counters.iter().any(|counter| counter.pending() > 0)
    }
}

impl Counts {
    /// Begins with what was used in a month before the start.
    pub(super) fn begin(&mut self, month: Day, used: impl Iterator<Item = ((ProjectId, Service), u64)>) {
        self.month = Some(month);
        self.used = used.collect();
    }

    /// What a project used of a service in a month, of which nothing is known yet when it is another one than before.
    pub(super) fn used(&mut self, project: ProjectId, service: Service, month: Day) -> &mut u64 {
        if self.month != Some(month) {
            self.month = Some(month);
            self.used.clear();
        }
        self.used.entry((project, service)).or_default()
    }

    /// Notes that a project was used which has a quota.
    pub(super) fn note_charged(&mut self, project: ProjectId) {
        self.projects.entry(project).or_default().is_charged = true;
    }

    /// Counts units that are to be stored.
    pub(super) fn count(&mut self, project: ProjectId, service: Service, day: Day, units: u64) {
        let counters = &mut self.projects.entry(project).or_default().counters;
        let known = counters.iter_mut().find(|counter| (counter.service, counter.day) == (service, day));
        if let Some(counter) = known {
            counter.counted += units;
        } else {
            self.counters += 1;
            counters.push(Counter { service, day, number: self.counters, counted: units, stored: 0 });
        }
    }

    /// Projects of which something is to be stored, or to be read, at the beginning of another turn.
    pub(super) fn waiting(&mut self) -> Vec<ProjectId> {
        self.turns = self.turns.wrapping_add(1);
        let waiting = self.projects.iter().filter(|(_, metered)| metered.is_waiting());
        waiting.map(|(project, _)| *project).collect()
    }

    /// The parts in which these projects are stored. Those of which nobody knows whether they are come last, each alone, the least
    /// tried first: what keeps one of them from being stored keeps nobody else. The others take turns in being first.
    pub(super) fn parts(&self, projects: Vec<ProjectId>) -> Vec<Vec<ProjectId>> {
        let tries = |project: &ProjectId| self.projects.get(project).map_or(0, |metered| metered.tries);
        let (mut doubtful, mut others): (Vec<ProjectId>, Vec<ProjectId>) =
            projects.into_iter().partition(|project| tries(project) > 0);
        doubtful.sort_unstable_by_key(|project| (tries(project), *project));
        others.sort_unstable();
        let mut parts: Vec<Vec<ProjectId>> = others.chunks(PROJECTS_PER_WRITE).map(<[_]>::to_vec).collect();
        let first = self.turns.checked_rem(parts.len()).unwrap_or_default();
        parts.rotate_left(first);
        parts.extend(doubtful.into_iter().map(|project| vec![project]));
        parts
    }

    /// What of these projects is to be stored. It is told from here on, whatever becomes of who tells it.
    pub(super) fn tell(&mut self, part: &[ProjectId]) -> Vec<(ProjectId, Counter)> {
        let mut told = Vec::new();
        for project in part {
            let Some(metered) = self.projects.get_mut(project) else { continue };
            let before = told.len();
            let pending = metered.counters.iter().filter(|counter| counter.pending() > 0);
            told.extend(pending.map(|counter| (*project, *counter)));
            if told.len() > before {
                metered.tries = metered.tries.saturating_add(1);
            }
        }
        told
    }

    /// Notes that what was told is stored for certain.
    pub(super) fn note_stored(&mut self, told: &[(ProjectId, Counter)]) {
        for (project, told) in told {
            let Some(metered) = self.projects.get_mut(project) else { continue };
            metered.tries = 0;
            let mut counters = metered.counters.iter_mut();
            if let Some(counter) = counters.find(|counter| counter.number == told.number) {
                counter.stored = counter.stored.max(told.counted);
            }
        }
    }

    /// Those of these projects of which it is to be read what they used anywhere. Of what may be stored or not it could not be said
    /// whether it is among that.
    pub(super) fn to_read(&self, part: &[ProjectId]) -> Vec<ProjectId> {
        let is_due = |metered: &Metered| metered.is_charged && metered.tries == 0;
        part.iter().copied().filter(|project| self.projects.get(project).is_some_and(is_due)).collect()
    }

    /// Takes over that a project used so much of a month that is stored, unless another one has begun.
    pub(super) fn take_over(&mut self, project: ProjectId, totals: Vec<(String, u64)>, month: Day) {
        let Some(metered) = self.projects.get_mut(&project) else { return };
        metered.is_charged = false;
        if self.month != Some(month) {
            return;
        }
        let mut used: HashMap<Service, u64> = totals
            .into_iter()
            .filter_map(|(service, units)| Some((Service::from_short(&service)?, units)))
            .collect();
        for counter in metered.counters.iter().filter(|counter| counter.day >= month) {
            *used.entry(counter.service).or_default() += counter.pending();
        }
        for service in Service::ALL {
            self.used.insert((project, service), used.get(&service).copied().unwrap_or_default());
        }
    }

    /// Forgets counters of days that are over, once all of them is stored.
    pub(super) fn forget_before(&mut self, today: Day) {
        self.projects.retain(|_, metered| {
            metered.counters.retain(|counter| counter.day >= today || counter.pending() > 0);
            metered.is_charged || !metered.counters.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(number: u64) -> ProjectId {
        number.try_into().unwrap()
    }

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    /// Counters by their names, and what they tell.
    fn lines(told: &[(ProjectId, Counter)]) -> Vec<(String, u64)> {
        let mut lines: Vec<_> = told
            .iter()
            .map(|(project, counter)| counter.line(*project, "me"))
            .map(|line| {
                (format!("{} {} {} {}", line.project, line.service, line.day, line.counter), line.units)
            })
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn what_nobody_knows_to_be_stored_is_told_again_with_what_came_since() {
        let (mut counts, one, today) = (Counts::default(), project(1), day("2025-03-14"));
        let count = |counts: &mut Counts, units| counts.count(one, Service::Builder, today, units);
        let name = "1 builder 2025-03-14 me-1".to_owned();
        count(&mut counts, 3);
        let first = counts.tell(&[one]);
        assert_eq!(lines(&first), [(name.clone(), 3)]);
        count(&mut counts, 2);
        let second = counts.tell(&[one]);
        assert_eq!(lines(&second), [(name.clone(), 5)], "the same counter");
        count(&mut counts, 4);
        counts.note_stored(&second);
        counts.note_stored(&first);
        assert_eq!(lines(&counts.tell(&[one])), [(name, 9)], "what came while it was stored");
    }

    #[test]
    fn what_is_stored_is_not_told_again_and_forgotten_once_its_day_is_over() {
        let (mut counts, one) = (Counts::default(), project(1));
        let (yesterday, today) = (day("2025-03-13"), day("2025-03-14"));
        counts.count(one, Service::Builder, yesterday, 3);
        counts.forget_before(today);
        assert_eq!(counts.waiting(), [one], "it is not stored");
        let told = counts.tell(&[one]);
        counts.note_stored(&told);
        assert_eq!((counts.waiting(), counts.tell(&[one])), (Vec::new(), Vec::new()));
        counts.forget_before(yesterday);
        assert_eq!(counts.projects.len(), 1);
        counts.forget_before(today);
        assert!(counts.projects.is_empty());
        // The clock is set back.
        counts.count(one, Service::Builder, yesterday, 1);
        assert_eq!(lines(&counts.tell(&[one])), [("1 builder 2025-03-13 me-2".to_owned(), 1)]);
    }

    #[test]
    fn what_cannot_be_stored_comes_last_and_alone() {
        let (mut counts, today) = (Counts::default(), day("2025-03-14"));
        let all: Vec<ProjectId> = (1..=4).map(project).collect();
        for one in &all {
            counts.count(*one, Service::Builder, today, 1);
        }
        counts.tell(&[all[0]]);
        counts.tell(&[all[0], all[1]]);
        let parts = [vec![all[2], all[3]], vec![all[1]], vec![all[0]]];
        assert_eq!(counts.parts(all.clone()), parts);
        let told = counts.tell(&[all[0]]);
        counts.note_stored(&told);
        assert_eq!(counts.parts(all.clone()), [vec![all[0], all[2], all[3]], vec![all[1]]]);
    }

    #[test]
    fn many_take_turns_in_being_first() {
        let mut counts = Counts::default();
        let all: Vec<ProjectId> = (1..=2 * PROJECTS_PER_WRITE as u64 + 1).map(project).collect();
        let mut first = || {
            counts.waiting();
            counts.parts(all.clone())[0][0].get()
        };
        let second = PROJECTS_PER_WRITE as u64 + 1;
        assert_eq!([first(), first(), first(), first()], [second, 2 * second - 1, 1, second]);
    }

    #[test]
    fn sums_are_taken_over_where_it_is_known_what_is_among_them() {
        let (mut counts, one) = (Counts::default(), project(1));
        let (month, today) = (day("2025-03-01"), day("2025-03-14"));
        let charge = |counts: &mut Counts, units| {
            counts.note_charged(one);
            *counts.used(one, Service::Builder, month) += units;
            counts.count(one, Service::Builder, today, units);
        };
        charge(&mut counts, 3);
        let told = counts.tell(&[one]);
        assert_eq!(counts.to_read(&[one]), [], "whether it is stored nobody knows");
        counts.note_stored(&told);
        charge(&mut counts, 2);
        assert_eq!(counts.to_read(&[one]), [one]);
        counts.take_over(one, vec![("builder".to_owned(), 10)], month);
        assert_eq!(*counts.used(one, Service::Builder, month), 12);
        assert_eq!(counts.to_read(&[one]), []);
        assert_eq!(*counts.used(one, Service::Builder, day("2025-04-01")), 0, "another month");
    }
}
