//! One project from its beginning on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use bourse_analytics::{Changes, Chart, ChartQuery, Chunk, Event, Interval, Key, Project, Range, Wallets};
use bourse_wire::{Address, Day};

use crate::expected::Expected;
use crate::model::{Kind, Model, ModelEvent};
use bourse_random::Random;

/// The day that random days begin with: the turn of a year is near.
const EPOCH: i32 = 19_700;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) wallets: u64,
    pub(crate) days: u64,
    pub(crate) batch: u64,
    pub(crate) steps: u64,
}

#[derive(Default)]
struct Process {
    project: Project,
    wallets: Wallets,
}

impl Process {
    fn load(&mut self, key: Key, bytes: &[u8]) {
        self.project.load([Chunk::decode(key, bytes).unwrap()]);
        self.wallets.load(key, bytes).unwrap();
    }
}

pub(crate) struct Trial {
    scale: Scale,
    random: Random,
    model: Model,
    /// What is on disk.
    stored: BTreeMap<(u8, i32, u32), Vec<u8>>,
    writer: Process,
    follower: Process,
    /// What the follower has not taken in yet.
    behind: BTreeSet<Key>,
    /// Questions that are asked again and again, so that memory is used.
    favourites: Vec<(ChartQuery, (i32, i32))>,
    aloud: bool,
}

fn wallet(number: u64) -> Address {
    let mut bytes = [7; 20];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Address::from_bytes(bytes)
}

impl Trial {
    pub(crate) fn run(seed: u64, scale: Scale, aloud: bool) {
        let mut trial = Self {
            scale,
            random: Random::new(seed),
            model: Model::default(),
            stored: BTreeMap::new(),
            writer: Process::default(),
            follower: Process::default(),
            behind: BTreeSet::new(),
            favourites: Vec::new(),
            aloud,
        };
        trial.favourites = (0..3).map(|_| trial.query()).collect();
        if scale.wallets > 1_000 {
            trial.arrive();
        }
        for _ in 0..scale.steps {
            trial.step();
            trial.check();
        }
        trial.sync();
        for chart in Chart::ALL {
            trial.compare(*chart, trial.favourites[0]);
        }
    }

    fn tell(&self, step: &str, what: &dyn Debug) {
        if self.aloud {
            eprintln!("{step} {what:?}");
        }
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0 => self.forget(),
            1 => self.restart(),
            2 | 3 => self.sync(),
            4 => {
                self.sync();
                self.tell("the other writes now", &"");
                std::mem::swap(&mut self.writer, &mut self.follower);
            }
            _ => self.apply(),
        }
    }

    fn day(&mut self) -> i32 {
        EPOCH + i32::try_from(self.random.below(self.scale.days)).unwrap()
    }

    fn events(&mut self) -> Vec<ModelEvent> {
        let latest = self.day();
        let count = 1 + self.random.below(self.scale.batch);
        // Wallets with neighbouring numbers often do the same.
        let first = self.random.below(self.scale.wallets);
        let event = |index| {
            let late = self.random.one_in(3);
            let number =
                if self.random.one_in(2) { first + index } else { self.random.below(self.scale.wallets) };
            let kind = *self.random.pick(&[Kind::Any, Kind::Any, Kind::Transaction, Kind::Market]);
            ModelEvent {
                wallet: Some(wallet(number % self.scale.wallets)),
                day: if late { self.day() } else { latest },
                kind,
                action: *self.random.pick(&[None, Some("buy"), Some("sell"), Some("lend")]),
            }
        };
        (0..count).map(event).collect()
    }

    /// Every wallet of a large project, on one of two days.
    fn arrive(&mut self) {
        let days = [self.day(), self.day()];
        let event = |number| ModelEvent {
            wallet: Some(wallet(number)),
            day: *self.random.pick(&days),
            kind: Kind::Any,
            action: None,
        };
        let events = (0..self.scale.wallets).map(event).collect();
        self.count(events);
    }

    fn apply(&mut self) {
        let events = self.events();
        self.count(events);
    }

    fn count(&mut self, events: Vec<ModelEvent>) {
        self.tell("apply", &events);
        let batch = events.iter().map(|event| Event {
            wallet: event.wallet.unwrap(),
            day: Day::from_number(event.day),
            detail: event.detail(),
        });
        let changes = self.writer.project.prepare(&self.writer.wallets, batch).unwrap();
        if self.random.one_in(8) {
            return self.tell("which could not be written", &"");
        }
        self.write(changes);
        self.model.events.extend(events);
    }

    fn forget(&mut self) {
        let wallet = wallet(self.random.below(self.scale.wallets));
        self.tell("forget", &wallet);
        let forgotten = self.writer.project.prepare_forget(&self.writer.wallets, &wallet);
        let days = self.model.forget(wallet);
        assert_eq!(forgotten.is_some(), !days.is_empty());
        if let Some(forgotten) = forgotten {
            assert!(forgotten.active_days.iter().eq(&days));
            assert!(forgotten.sent_days <= days.len() && forgotten.market_days <= days.len());
            self.write(forgotten.changes);
        }
    }

    fn write(&mut self, changes: Changes) {
        for (key, bytes) in changes.chunks() {
            assert_eq!(Key::from_columns(key.columns()), Some(key));
            self.behind.insert(key);
            if bytes.is_empty() {
                self.stored.remove(&key.columns());
            } else {
                self.stored.insert(key.columns(), bytes);
            }
        }
        let Process { project, wallets } = &mut self.writer;
        project.publish(wallets, changes).unwrap();
    }

    /// The follower takes in what changed, in any order.
    fn sync(&mut self) {
        self.tell("follow", &self.behind);
        let mut keys: Vec<Key> = std::mem::take(&mut self.behind).into_iter().collect();
        self.random.shuffle(&mut keys);
        let bytes = |key: &Key| self.stored.get(&key.columns()).map(Vec::as_slice).unwrap_or_default();
        // All at once, unlike a restart.
        self.follower.project.load(keys.iter().map(|key| Chunk::decode(*key, bytes(key)).unwrap()));
        for key in &keys {
            self.follower.wallets.load(*key, bytes(key)).unwrap();
        }
    }

    fn restart(&mut self) {
        self.tell("restart", &"");
        self.writer = Process::default();
        let mut keys: Vec<Key> =
            self.stored.keys().map(|columns| Key::from_columns(*columns).unwrap()).collect();
        self.random.shuffle(&mut keys);
        for key in keys {
            self.writer.load(key, &self.stored[&key.columns()]);
        }
    }

    fn query(&mut self) -> (ChartQuery, (i32, i32)) {
        let (one, other, today) = (self.day(), self.day(), self.day());
        let days = (one.min(other), one.max(other));
        let range = Range::new(Day::from_number(days.0), Day::from_number(days.1)).unwrap();
        let intervals = [None, Some(Interval::Day), Some(Interval::Week), Some(Interval::Month)];
        let interval = *self.random.pick(&intervals);
        (ChartQuery { range, interval, fill: self.random.one_in(3), today: Day::from_number(today) }, days)
    }

    fn check(&mut self) {
        for _ in 0..3 {
            let query =
                if self.random.one_in(3) { self.query() } else { *self.random.pick(&self.favourites) };
            for _ in 0..3 {
                let chart = *self.random.pick(Chart::ALL);
                self.compare(chart, query);
            }
        }
    }

    fn compare(&self, chart: Chart, (query, days): (ChartQuery, (i32, i32))) {
        self.tell("ask", &(chart, query));
        let expected = Expected::new(&self.model, query, days);
        let answer = expected.answer(chart);
        assert_eq!(self.writer.project.chart(chart, &query), answer);
        if self.behind.is_empty() {
            assert_eq!(self.follower.project.chart(chart, &query), answer);
        }
        if chart == Chart::D1RetentionByCohort {
            assert_eq!(self.writer.project.retention_grid(&query, 9), expected.grid(9));
        }
    }
}
