//! An empty service in this process, at a port of its own.

use std::time::Duration;

use bourse_console::{first_link, service};
use bourse_server::settings::{Layers, Settings, load};
use bourse_server::{App, Background, Clock};
use bourse_store::DatabaseUrl;
use bourse_store::testing::TestDatabase;
use bourse_wire::Timestamp;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::site::Site;

/// A service on the engine that `STORE` names: for what depends on how the console's records are stored.
pub(crate) fn on_each_engine() -> Site {
    start(Clock::system()).0
}

/// A service on SQLite; `None` when the tests are for PostgreSQL. For what the engine has no part in.
pub(crate) fn on_sqlite() -> Option<Site> {
    on_sqlite_at(Clock::system())
}

/// The same, where it is always the same moment.
pub(crate) fn on_sqlite_at_rest() -> Option<Site> {
    let now: Timestamp = "2026-11-15T12:00:30Z".parse().unwrap();
    on_sqlite_at(Clock::new(move || now, || Duration::ZERO))
}

fn on_sqlite_at(clock: Clock) -> Option<Site> {
    let (site, is_sqlite) = start(clock);
    is_sqlite.then_some(site)
}

/// What serves until it is dropped. The runtime goes first, so that nothing uses the database any more.
struct Running {
    _runtime: Runtime,
    _background: Background,
    _database: TestDatabase,
}

fn start(clock: Clock) -> (Site, bool) {
    let runtime = Runtime::new().unwrap();
    let (port, link, background, database) = runtime.block_on(async {
        let database = TestDatabase::fresh().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = App::open(settings(&database, port), clock).await.unwrap();
        let path = first_link(&app).await.unwrap().unwrap();
        let background = Background::start(&app);
        tokio::spawn(bourse_server::serve(listener, service(app), Box::pin(std::future::pending())));
        (port, format!("http://127.0.0.1:{port}{path}"), background, database)
    });
    let is_sqlite = matches!(database.url, DatabaseUrl::Sqlite(_));
    let running = Running { _runtime: runtime, _background: background, _database: database };
    (Site::new(port, link, running), is_sqlite)
}

fn settings(database: &TestDatabase, port: u16) -> Settings {
    let url = match &database.url {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    };
    let flags = [
        ("storage.data", database.directory.path().display().to_string()),
        ("storage.database", url),
        ("server.public_url", format!("http://127.0.0.1:{port}")),
    ];
    let flags = flags.into_iter().map(|(key, value)| ("--test", key.to_owned(), value)).collect();
    load(Layers { flags, ..Layers::default() }).unwrap().settings
}
