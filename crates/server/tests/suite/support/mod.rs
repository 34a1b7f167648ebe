//! A whole service on a database of its own, called in-process.

pub(crate) mod actor;
pub(crate) mod body;
pub(crate) mod chain;
pub(crate) mod clock;
pub(crate) mod events;
pub(crate) mod log;
pub(crate) mod market;
pub(crate) mod orders;
pub(crate) mod project;
pub(crate) mod random;
pub(crate) mod seed;
pub(crate) mod transcript;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_server::settings::{Layers, Settings, load};
use bourse_server::{App, Background, Backstage, Chains, Entrance};
use bourse_store::testing::{self, Relay, TestDatabase};
use bourse_store::{DatabaseUrl, Store};
use bourse_wire::Timestamp;

use actor::Actor;
use clock::FakeClock;
use project::Project;

use crate::service;

/// When every test begins.
pub(crate) const START: &str = "2025-03-14T12:00:00Z";
/// Signs the secret tokens of every test.
pub(crate) const SECRET: &str = "the signing secret of every test";

/// How long something may take that must come to be. It only ends a test that would wait forever: how fast the machine is
/// and what else it does is no test's business.
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(2);

/// Waits until something is so.
pub(crate) async fn wait_until(what: &str, holds: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < WAIT_MAX, "not within {WAIT_MAX:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A running service, and who calls it.
pub(crate) struct TestApp {
    pub(crate) app: Arc<App>,
    /// The same database, opened as another process would.
    pub(crate) store: Store,
    pub(crate) clock: FakeClock,
    /// Presents no credential.
    pub(crate) anonymous: Actor,
    pub(crate) project_a: Project,
    pub(crate) project_b: Project,
    pub(crate) database: TestDatabase,
}

/// A second service on the database of a first.
pub(crate) struct Beside {
    app: Arc<App>,
    /// Project A, presenting its access key to this one.
    pub(crate) key: Actor,
    /// Project A, presenting its secret token to this one.
    pub(crate) token: Actor,
}

impl Beside {
    pub(crate) fn backstage(&self) -> Backstage {
        Backstage::new(Arc::clone(&self.app))
    }

    pub(crate) fn background(&self) -> Background {
        Background::start(&self.app)
    }

    pub(crate) fn entrance(&self) -> Entrance {
        service(Arc::clone(&self.app))
    }
}

impl TestApp {
    /// A service with the default settings.
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// A service with some settings of its own, each a dotted key and a value.
    pub(crate) async fn with(settings: &[(&'static str, &str)]) -> Self {
        Self::prepared(settings, async |_, _, _| ()).await.0
    }

    /// A service that finds, when it starts, what `prepare` put into the store of its two projects.
    pub(crate) async fn prepared<T>(
        settings: &[(&'static str, &str)],
        prepare: impl AsyncFnOnce(&Store, &Project, &Project) -> T,
    ) -> (Self, T) {
        Self::asking(settings, None, prepare).await
    }

    /// The same, with somebody to ask about chains.
    pub(crate) async fn asking<T>(
        settings: &[(&'static str, &str)],
        chains: Option<Arc<dyn Chains>>,
        prepare: impl AsyncFnOnce(&Store, &Project, &Project) -> T,
    ) -> (Self, T) {
        Self::on(TestDatabase::fresh().await.unwrap(), settings, chains, prepare).await
    }

    /// A service that reaches its database by way of a relay; `None` where there is no way to PostgreSQL to stand in.
    pub(crate) async fn relayed(settings: &[(&'static str, &str)]) -> Option<(Self, Relay)> {
        let database = TestDatabase::fresh().await.unwrap();
        let relay = Relay::before(&database.url).await.unwrap()?;
        let DatabaseUrl::Postgres(url) = &relay.url else { return None };
        let settings = [settings, &[("storage.database", url.as_str())]].concat();
        let (app, ()) = Self::on(database, &settings, None, async |_, _, _| ()).await;
        Some((app, relay))
    }

    /// A service on a database that is there already, and is brought up to date.
    pub(crate) async fn upgraded(database: TestDatabase) -> Self {
        Self::on(database, &[], None, async |_, _, _| ()).await.0
    }

    async fn on<T>(
        database: TestDatabase,
        settings: &[(&'static str, &str)],
        chains: Option<Arc<dyn Chains>>,
        prepare: impl AsyncFnOnce(&Store, &Project, &Project) -> T,
    ) -> (Self, T) {
        let store = database.open().await.unwrap();
        let project_a = Project::create(&store, "A").await;
        let project_b = Project::create(&store, "B").await;
        let prepared = prepare(&store, &project_a, &project_b).await;
        let clock = FakeClock::at(START);
        let settings = load(layers(&database, settings)).unwrap().settings;
        let app = App::open_with(settings, clock.clock(), chains).await.unwrap();
        show_time(&app, &clock);
        let anonymous = Actor::new(service(Arc::clone(&app)));
        let [project_a, project_b] = [project_a, project_b].map(|project| project.calling(&anonymous));
        (Self { app, store, clock, anonymous, project_a, project_b, database }, prepared)
    }

    /// Another service on the same database, as another process would run it.
    pub(crate) async fn another(&self) -> Beside {
        self.another_asking(&[], None).await
    }

    /// The same with some settings of its own, and somebody to ask about chains.
    pub(crate) async fn another_asking(
        &self,
        settings: &[(&'static str, &str)],
        chains: Option<Arc<dyn Chains>>,
    ) -> Beside {
        let app = App::open_with(self.settings(settings), self.clock.clock(), chains).await.unwrap();
        show_time(&app, &self.clock);
        let anonymous = Actor::new(service(Arc::clone(&app)));
        let key = anonymous.with("x-access-key", &self.project_a.key_text);
        let token = anonymous.with("authorization", &format!("Bearer {}", self.project_a.token_text));
        Beside { app, key, token }
    }

    /// The settings that another process has, with some of its own.
    pub(crate) fn settings(&self, settings: &[(&'static str, &str)]) -> Settings {
        load(layers(&self.database, settings)).unwrap().settings
    }

    /// Lets it follow the store and flush, as it does when it serves.
    pub(crate) fn background(&self) -> Background {
        Background::start(&self.app)
    }

    pub(crate) fn backstage(&self) -> Backstage {
        Backstage::new(Arc::clone(&self.app))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// The settings of a test: its own directory and database, nothing from the machine.
/// Has minutes pass for the database as well when the test says so.
fn show_time(app: &App, clock: &FakeClock) {
    let clock = clock.clone();
    testing::show_time(app.store(), move || clock.steady());
}

fn layers(database: &TestDatabase, settings: &[(&'static str, &str)]) -> Layers {
    let url = match &database.url {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    };
    let data = database.directory.path().display().to_string();
    let common = [
        ("storage.data", data.as_str()),
        ("storage.database", url.as_str()),
        ("storage.connections_max", "4"),
        ("auth.jwt_secret", SECRET),
        ("server.public_url", "https://bourse.example"),
    ];
    // Unless a test wants it, nothing is flushed by time: what usage shows must not depend on how long a test takes.
    // And nobody is told to come back because the machine is busy.
    let quiet = [
        ("limits.metering_flush_ms", "3600000"),
        ("limits.request_timeout_ms", "60000"),
        ("storage.database_timeout_ms", "60000"),
    ];
    let quiet = quiet.iter().filter(|(key, _)| settings.iter().all(|(own, _)| own != key));
    let common = common.iter().filter(|(key, _)| settings.iter().all(|(own, _)| own != key));
    let all = common.chain(quiet).chain(settings);
    let flags = all.map(|(key, value)| ("--test", (*key).to_owned(), (*value).to_owned()));
    Layers { flags: flags.collect(), ..Layers::default() }
}
