//! A service with a console, and people who use it.

use std::any::Any;

use serde_json::Value;

use crate::browser::Browser;
use crate::http::{self, Answer, Credential};

/// What everybody's password is.
pub(crate) const PASSWORD: &str = "correct horse battery staple";
/// Who opens the first link.
pub(crate) const ADMINISTRATOR: &str = "administrator@example.com";

/// A running service. It stops when this is dropped.
pub(crate) struct Site {
    pub(crate) port: u16,
    /// The link that makes the first administrator.
    pub(crate) first_link: String,
    _service: Box<dyn Any>,
}

impl Site {
    /// The site at a port of this machine, as long as `service` runs.
    pub(crate) fn new(port: u16, first_link: String, service: impl Any) -> Self {
        Self { port, first_link, _service: Box::new(service) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Calls an operation as a program does.
    pub(crate) fn call(&self, operation: &str, credential: Credential<'_>, body: &Value) -> Answer {
        http::call(self.port, operation, credential, body).unwrap()
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
        Self::join(&browser, &self.first_link, ADMINISTRATOR);
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
