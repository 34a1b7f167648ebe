//! A browser with somebody before it.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::process::{Process, clean_command};

/// How long anything may take that a page does: only a test that would wait forever ends by it.
const LIMIT: Duration = Duration::from_mins(2);

/// Held by the one browser that runs.
static TURN: Mutex<()> = Mutex::new(());

/// What the screen is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Wide,
    Phone,
}

/// Which colours somebody prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    Light,
    Dark,
}

/// A browser of its own, which forgets everything at the end.
pub(crate) struct Browser {
    client: Option<Client>,
    runtime: Runtime,
    _driver: Process,
    _home: TempDir,
    /// None for one that runs beside another.
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Browser {
    pub(crate) fn open() -> Self {
        Self::with(Screen::Wide, Colours::Light)
    }

    pub(crate) fn with(screen: Screen, colours: Colours) -> Self {
        Self::with_preferences(screen, colours, &json!({}))
    }

    /// One of which somebody changed the settings.
    pub(crate) fn with_preferences(screen: Screen, colours: Colours, preferences: &Value) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self::start((screen, colours), preferences, Some(turn))
    }

    /// One that has this turn; without any beside one that has its own.
    pub(crate) fn start(
        (screen, colours): (Screen, Colours),
        preferences: &Value,
        turn: Option<MutexGuard<'static, ()>>,
    ) -> Self {
        let home = TempDir::new().unwrap();
        let (driver, port) = start_driver(home.path());
        let runtime = Runtime::new().unwrap();
        let mut capabilities = capabilities(screen, colours, home.path());
        capabilities["goog:chromeOptions"]["prefs"] = preferences.clone();
        let client = runtime.block_on(connect(port, &capabilities));
        Self { client: Some(client), runtime, _driver: driver, _home: home, _turn: turn }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().unwrap()
    }

    pub(crate) fn go(&self, url: &str) {
        self.runtime.block_on(self.client().goto(url)).unwrap();
    }

    /// The path and query of the page that is shown.
    pub(crate) fn path(&self) -> String {
        let url = self.runtime.block_on(self.client().current_url()).unwrap();
        url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// What the page shows, as text.
    pub(crate) fn text(&self) -> String {
        // Between two pages there is none.
        self.run("return document.body?.innerText ?? ''").as_str().unwrap().to_owned()
    }

    pub(crate) fn source(&self) -> String {
        self.runtime.block_on(self.client().source()).unwrap()
    }

    /// Waits until the page shows a text.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_for_one_of(&[text]);
    }

    /// Waits until the page shows one of some texts, and says which.
    pub(crate) fn wait_for_one_of<'text>(&self, texts: &[&'text str]) -> &'text str {
        let started = Instant::now();
        loop {
            let shown = self.text();
            if let Some(text) = texts.iter().find(|text| shown.contains(**text)) {
                return text;
            }
            assert!(started.elapsed() < LIMIT, "none of {texts:?} is on {}: {shown}", self.path());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until a page is there whole whose address has this in it.
    pub(crate) fn wait_for_page(&self, part: &str) {
        let started = Instant::now();
        while !(self.path().contains(part) && self.run("return document.readyState") == "complete") {
            assert!(started.elapsed() < LIMIT, "“{part}” is not in {}", self.path());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    async fn find(&self, css: &str) -> Element {
        let found = self.client().wait().at_most(LIMIT).for_element(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    /// The text of an element.
    pub(crate) fn text_of(&self, css: &str) -> String {
        self.runtime.block_on(async { self.find(css).await.text().await.unwrap() })
    }

    pub(crate) fn count(&self, css: &str) -> usize {
        self.runtime.block_on(self.client().find_all(Locator::Css(css))).unwrap().len()
    }

    /// Puts a text in the place of what is in a field.
    pub(crate) fn fill(&self, css: &str, text: &str) {
        self.runtime.block_on(async {
            let field = self.find(css).await;
            if field.attr("type").await.unwrap().as_deref() != Some("file") {
                field.clear().await.unwrap();
            }
            field.send_keys(text).await.unwrap();
        });
    }

    pub(crate) fn choose(&self, css: &str, value: &str) {
        self.runtime.block_on(async { self.find(css).await.select_by_value(value).await.unwrap() });
    }

    /// Clicks a link or a button by what it says, and says yes if the page asks whether that is meant.
    pub(crate) fn press(&self, label: &str) {
        let xpath =
            format!("//*[self::a or self::button or self::summary][contains(normalize-space(.), {label:?})]");
        self.runtime.block_on(async {
            let found = self.client().wait().at_most(LIMIT).for_element(Locator::XPath(&xpath)).await;
            let button = found.unwrap_or_else(|error| panic!("{label}: {error}"));
            button.click().await.unwrap();
            // Most clicks ask nothing, which is what the error says.
            let _ = self.client().accept_alert().await;
        });
    }

    /// Runs a script in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.runtime.block_on(self.client().execute(script, Vec::new())).unwrap()
    }

    /// Runs a script that calls back with its result.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.runtime.block_on(self.client().execute_async(script, Vec::new())).unwrap()
    }

    pub(crate) fn screenshot(&self) -> Vec<u8> {
        self.runtime.block_on(self.client().screenshot()).unwrap()
    }

    /// The cookies that a script can see.
    pub(crate) fn visible_cookies(&self) -> String {
        self.run("return document.cookie").as_str().unwrap().to_owned()
    }

    /// A cookie that only the browser itself can see.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        let cookies = self.runtime.block_on(self.client().get_all_cookies()).unwrap();
        cookies.iter().find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // The driver is killed in any case; this lets the browser end by itself first.
            let _ = self.runtime.block_on(client.close());
        }
    }
}

/// Starts the driver at a port that the system chooses.
fn start_driver(home: &Path) -> (Process, u16) {
    let mut command: Command = clean_command("chromedriver", home);
    command.arg("--port=0").env("HOME", home).env("TMPDIR", home);
    let driver = Process::start(command, &home.join("driver"));
    let started = Instant::now();
    loop {
        let said = driver.stdout();
        let port = said.split_once("successfully on port ").and_then(|(_, rest)| rest.split_once('.'));
        if let Some(port) = port.and_then(|(port, _)| port.parse().ok()) {
            return (driver, port);
        }
        assert!(started.elapsed() < LIMIT, "the driver did not start: {said}{}", driver.stderr());
        std::thread::sleep(Duration::from_millis(10));
    }
}

async fn connect(port: u16, capabilities: &Map<String, Value>) -> Client {
    let started = Instant::now();
    loop {
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities.clone());
        match builder.connect(&format!("http://127.0.0.1:{port}")).await {
            Ok(client) => return client,
            Err(error) if started.elapsed() > LIMIT => panic!("the browser did not start: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn capabilities(screen: Screen, colours: Colours, home: &Path) -> Map<String, Value> {
    let scheme = match colours {
        Colours::Dark => 0,
        Colours::Light => 1,
    };
    let arguments = vec![
        "--headless=new".to_owned(),
        // Tests run as root in containers, where the sandbox does not start.
        "--no-sandbox".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-gpu".to_owned(),
        "--hide-scrollbars".to_owned(),
        "--window-size=1280,900".to_owned(),
        format!("--blink-settings=preferredColorScheme={scheme}"),
        format!("--user-data-dir={}", home.join("profile").display()),
    ];
    let mut options = json!({ "args": arguments });
    if screen == Screen::Phone {
        let metrics = json!({ "width": 360, "height": 740, "pixelRatio": 2.0, "touch": true });
        options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
    }
    let capabilities = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
    capabilities.as_object().unwrap().clone()
}
