//! What wallets did, and charts as anybody would count them.

use std::collections::{BTreeMap, BTreeSet};

use bourse_store::{Activity, CollectionId};
use bourse_wire::{ActivityAction, ActivityFacts, Address, Timestamp};
use serde_json::{Value, json};

use crate::support::TestApp;

/// The days of everything that is tracked, all before everything begins.
pub(super) const TRACKED_DAYS: [&str; 2] = ["2025-03-01", "2025-03-13"];
/// The days on which people put orders and end them.
pub(super) const MARKET_DAYS: [&str; 2] = ["2025-03-14", "2027-12-31"];

/// What was tracked.
#[derive(Default)]
pub(super) struct Tracked {
    /// By the name of the batch.
    batches: BTreeMap<u64, Vec<Value>>,
    /// Without a name, each once.
    imported: Vec<Vec<Value>>,
    ids: BTreeSet<String>,
    /// What counts of all that.
    counted: Vec<Value>,
}

impl Tracked {
    /// The events that go under a name: what was sent first counts, however often it comes.
    pub(super) fn batch(&mut self, name: u64, events: Vec<Value>) -> Vec<Value> {
        if !self.batches.contains_key(&name) {
            self.count(&events);
        }
        self.batches.entry(name).or_insert(events).clone()
    }

    /// Takes events that are imported: the same ones again count nothing.
    pub(super) fn import(&mut self, events: &[Value]) {
        if !self.imported.iter().any(|known| known == events) {
            self.imported.push(events.to_vec());
            self.count(events);
        }
    }

    /// Counts events, those with a name of their own once.
    fn count(&mut self, events: &[Value]) {
        for event in events {
            let is_known = event["id"].as_str().is_some_and(|id| !self.ids.insert(id.to_owned()));
            if !is_known {
                self.counted.push(event.clone());
            }
        }
    }

    /// Charts, with their points.
    pub(super) fn charts(&self) -> [(&'static str, Value); 6] {
        let of_kind = |kind: &'static str| move |event: &&Value| event["kind"] == kind;
        let (all, market) = (self.counted.iter(), self.counted.iter().filter(of_kind("market")));
        let sent = self.counted.iter().filter(of_kind("transaction"));
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for event in &self.counted {
            let known = first.entry(wallet_of(event)).or_insert(day_of(event));
            *known = day_of(event).min(known);
        }
        let total = json!([{ "label": TRACKED_DAYS[0], "value": first.len() }]);
        [
            ("WalletsTxnSentDaily", daily(sent.map(|event| (day_of(event), 1)))),
            ("WalletsDaily", daily(wallet_days(all))),
            ("MarketWalletsDaily", daily(wallet_days(market.clone()))),
            ("DailyNewWallets", daily(first.values().map(|day| (*day, 1)))),
            ("WalletsTotal", total),
            (
                "MarketTxnEventDaily",
                actions(market.map(|event| (day_of(event).to_owned(), action_of(event)))),
            ),
        ]
    }
}

fn wallet_of(event: &Value) -> &str {
    event["wallet"].as_str().unwrap()
}

fn day_of(event: &Value) -> &str {
    event["at"].as_str().unwrap().split_once('T').unwrap().0
}

fn action_of(event: &Value) -> &str {
    event["properties"]["action"].as_str().unwrap()
}

/// Each wallet once on each day.
fn wallet_days<'a>(events: impl Iterator<Item = &'a Value>) -> impl Iterator<Item = (&'a str, u64)> {
    let days: BTreeSet<_> = events.map(|event| (day_of(event), wallet_of(event))).collect();
    days.into_iter().map(|(day, _)| (day, 1))
}

/// Points of a chart by day.
fn daily<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Value {
    let mut days: BTreeMap<&str, u64> = BTreeMap::new();
    counts.for_each(|(day, count)| *days.entry(day).or_default() += count);
    days.into_iter().map(|(day, count)| json!({ "label": day, "value": count })).collect()
}

/// The same by what was done.
fn actions<'a>(events: impl Iterator<Item = (String, &'a str)>) -> Value {
    let mut days: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
    events.for_each(|(day, action)| *days.entry(day).or_default().entry(action).or_default() += 1);
    days.into_iter().map(|(day, actions)| json!({ "label": day, "value": actions })).collect()
}

/// What was counted of which activity when it was first seen in a market.
#[derive(Default)]
pub(super) struct Counted(BTreeMap<(CollectionId, String), Vec<(String, &'static str)>>);

/// What people did on the market of project A, counted from the list of what happened there.
pub(super) async fn market_events(app: &TestApp, counted: &mut Counted) -> Value {
    let mut events = Vec::new();
    for market in app.store.markets().await.unwrap() {
        assert_eq!(market.project, app.project_a.id);
        let activities = app.store.activities(market.collection, None, None, 100_000).await.unwrap();
        for Activity { facts, .. } in activities {
            let key = (market.collection, facts.unique_hash.clone());
            events.extend(counted.0.entry(key).or_insert_with(|| parts(&facts, app.now())).clone());
        }
    }
    actions(events.into_iter().filter(|(day, _)| MARKET_DAYS[0] <= day.as_str()))
}

/// The day of an activity that is counted now, with what each of those did who had a part in it.
fn parts(facts: &ActivityFacts, now: Timestamp) -> Vec<(String, &'static str)> {
    // Whoever imports an order does not always say when something happened to it.
    let known = || [facts.at, facts.created_at].into_iter().filter(|at| *at != Timestamp::ZERO);
    // A clock that was set back since has seen it, whatever it said.
    let at = known().find(|at| *at <= now).or(known().next().map(|_| now));
    let Some(at) = at.map(|at| at.to_string()) else { return Vec::new() };
    let (day, _) = at.split_once('T').unwrap();
    let parts: &[(Option<Address>, &'static str)] = match facts.action {
        ActivityAction::Listing => &[(Some(facts.from), "list")],
        ActivityAction::Offer => &[(Some(facts.from), "offer")],
        ActivityAction::Sale => &[(Some(facts.from), "sell"), (facts.to, "buy")],
        ActivityAction::ListingCancel | ActivityAction::OfferCancel => &[(Some(facts.from), "cancel")],
        ActivityAction::Unknown | ActivityAction::Mint | ActivityAction::Transfer => &[],
    };
    let somebody = parts.iter().filter(|(wallet, _)| wallet.is_some_and(|wallet| wallet != Address::ZERO));
    somebody.map(|(_, action)| (day.to_owned(), *action)).collect()
}
