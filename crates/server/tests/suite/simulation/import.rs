//! What the operator imports beside the servers: lines read as `bourse import` reads them, and written by another process.

use bourse_protocols::venues::Registry;
use bourse_server::counting::{CountingHouse, EventBatch, retention, surroundings};
use bourse_server::ingest::{Chains, EventInput, OrderSubmission, Reader, unasked};
use bourse_server::settings::Settings;
use bourse_store::{Actor, Author, Batch, Change, CollectionKey};
use bourse_wire::{ServiceName, from_value};
use serde_json::Value;

use crate::support::TestApp;

/// Who imports.
pub(super) struct Importer {
    settings: Settings,
    service: ServiceName,
    registry: Registry,
}

impl Importer {
    pub(super) fn new(settings: Settings) -> Self {
        let (service, registry) = (ServiceName::new(&settings.service.name), settings.networks.registry());
        Self { settings, service, registry }
    }

    /// Imports what an operation of `Ingest` would take.
    pub(super) async fn import(&self, app: &TestApp, operation: &str, body: &Value) {
        let records = |member: &str| body[member].as_array().unwrap().clone();
        match operation {
            "PutBalances" => {
                for record in records("balances") {
                    self.balance(app, record).await;
                }
            }
            "PutOrders" => {
                for record in records("orders") {
                    self.order(app, record).await;
                }
            }
            "PutCurrencies" => self.currencies(app, &records("currencies")).await,
            "TrackEvents" => self.events(app, &records("events")).await,
            other => panic!("{other} is not imported"),
        }
    }

    fn reader(&self, app: &TestApp) -> Reader<'_> {
        let Self { settings, service, registry } = self;
        Reader { service, networks: &settings.networks, registry, chains: Chains::Named, now: app.now() }
    }

    async fn commit(app: &TestApp, collection: CollectionKey, change: Change) {
        let (author, at) = (Author::Operator, app.now());
        let batch = Batch { collection, changes: vec![change], key: None, author, at };
        let committed = app.store.commit(batch).await.unwrap();
        assert_eq!(committed.refused, []);
    }

    async fn order(&self, app: &TestApp, record: Value) {
        let Value::Object(members) = record else { panic!("{record} is no object") };
        let (collection, order) = self.reader(app).any_order(members).unwrap();
        let change = match order {
            OrderSubmission::Facts(facts) => Change::Order(facts),
            OrderSubmission::Signed(signed) => {
                Change::SignedOrder(Box::new(unasked(*signed, app.now()).unwrap()))
            }
        };
        Self::commit(app, collection, change).await;
    }

    async fn balance(&self, app: &TestApp, record: Value) {
        let Value::Object(members) = record else { panic!("{record} is no object") };
        let (collection, balance) = self.reader(app).balance(members).unwrap();
        Self::commit(app, collection, balance).await;
    }

    async fn currencies(&self, app: &TestApp, records: &[Value]) {
        let read = |record: &Value| self.reader(app).currency(record.as_object().unwrap().clone()).unwrap();
        let currencies = records.iter().map(read).collect();
        app.store.put_currencies(currencies, Actor::command_line(app.now())).await.unwrap();
    }

    /// Events are known again by what is in them.
    async fn events(&self, app: &TestApp, events: &[Value]) {
        let read = |event: &Value| from_value::<EventInput>(event.clone()).unwrap().dated(app.now()).unwrap();
        let batch = EventBatch::of_content(events.iter().map(read).collect());
        let retention = retention(&self.settings.analytics);
        let house = CountingHouse::new(surroundings(app.store.clone(), retention, app.clock.clock()));
        house.track(app.project_a.scope, batch, app.now()).await.unwrap();
    }
}
