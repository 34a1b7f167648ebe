//! A service with a console, and people who use it.

use std::time::Duration;

use crate::browser::Browser;
use crate::instance::{Instance, Server, within};

/// What everybody's password is.
pub(crate) const PASSWORD: &str = "correct horse battery staple";
/// Who opens the first link.
pub(crate) const ADMINISTRATOR: &str = "administrator@example.com";

/// A running service.
pub(crate) struct Site {
    _instance: Instance,
    pub(crate) server: Server,
}

impl Site {
    /// An empty service.
    pub(crate) fn empty() -> Self {
        Self::start("serve")
    }

    /// A service with the demo's data.
    pub(crate) fn demo() -> Self {
        Self::start("demo")
    }

    fn start(subcommand: &str) -> Self {
        let instance = Instance::new();
        let mut server = instance.serve_unready(subcommand, &[]);
        server.wait_ready(Duration::from_mins(5));
        Self { _instance: instance, server }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port)
    }

    /// The link that the service printed at its first start.
    pub(crate) fn first_link(&self) -> String {
        let printed = || {
            let output = self.server.process.stdout();
            let link = output.split_whitespace().find(|word| word.contains("/console/join/"));
            link.map(str::to_owned)
        };
        within(Duration::from_mins(2), "the first link is printed", || printed().is_some());
        printed().unwrap()
    }

    /// Opens a link and makes an account with it.
    pub(crate) fn join(browser: &Browser, link: &str, email: &str) {
        browser.go(link);
        browser.fill("[name=email]", email);
        browser.fill("[name=password]", PASSWORD);
        browser.fill("[name=again]", PASSWORD);
        browser.press("Create account");
        browser.wait_for("you have joined");
    }

    /// A browser in which the administrator is signed in.
    pub(crate) fn administrator(&self) -> Browser {
        let browser = Browser::open();
        Self::join(&browser, &self.first_link(), ADMINISTRATOR);
        browser
    }

    pub(crate) fn sign_in(&self, browser: &Browser, email: &str) {
        browser.go(&self.url("/console/sign-in"));
        browser.fill("[name=email]", email);
        browser.fill("[name=password]", PASSWORD);
        browser.press("Sign in");
        browser.wait_for("Projects");
    }

    pub(crate) fn sign_out(browser: &Browser) {
        browser.press("Sign out");
        browser.wait_for("No account?");
    }

    /// Makes a project and tells its path.
    pub(crate) fn create_project(&self, browser: &Browser, name: &str) -> String {
        browser.go(&self.url("/console/projects"));
        browser.fill("[name=name]", name);
        browser.press("Create project");
        browser.wait_for("Created.");
        browser.path().split('?').next().unwrap().to_owned()
    }
}
