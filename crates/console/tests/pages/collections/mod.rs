//! Collections, tokens and their pictures.

mod browse;
mod list;
mod pictures;
mod token;

use bourse_store::testing::operator;
use bourse_store::{Change, Store};
use serde_json::{Value, json};

use super::browser::{Browser, Page};
use crate::support::TestApp;
use crate::support::orders::{put, with};
use crate::support::seed::{RELICS, contract_info, token_of};

/// Text that would do harm where it is not taken for text.
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'&amp;";

/// A service that knows [`RELICS`] as project A's own, with these changes, and an owner of A before a browser.
struct Room {
    app: TestApp,
    owner: Browser,
    /// The path of the collections of A.
    list: String,
    /// The path of [`RELICS`].
    path: String,
}

impl Room {
    async fn with(settings: &[(&'static str, &str)], mut changes: Vec<Change>) -> Self {
        let mut info = contract_info(RELICS, "Relics");
        info["logoURI"] = json!("data:image/svg+xml,<svg/>");
        // What is said later of the contract stands.
        changes.insert(0, Change::Contract(info.to_string()));
        let prepare = async move |store: &Store, a: &crate::support::project::Project, _: &_| {
            put(store, changes).await;
            store.join_market(a.scope, crate::support::seed::key(RELICS), operator()).await.unwrap();
        };
        let (app, ()) = TestApp::prepared(settings, prepare).await;
        let owner = Browser::of_owner(&app, app.project_a.id).await;
        let list = format!("/console/projects/{}/collections", app.project_a.id);
        let path = format!("{list}/polygon/{RELICS}");
        Self { app, owner, list, path }
    }

    async fn of(changes: Vec<Change>) -> Self {
        Self::with(&[], changes).await
    }

    /// A page of the collection, which must be one.
    async fn page(&self, rest: &str) -> Page {
        let page = self.owner.get(&format!("{}{rest}", self.path)).await;
        assert_eq!(page.status, 200, "{rest}: {}", page.html);
        assert!(page.html.len() < 100_000, "{rest}: {} bytes", page.html.len());
        page
    }
}

impl Page {
    /// The ids of the tokens on cards, in order.
    fn tokens(&self) -> Vec<String> {
        let cards = self.html.split("<li class=\"token\">").skip(1);
        let id = |card: &str| {
            card.split("<h3><a href=\"").nth(1)?.split('"').next()?.rsplit('/').next().map(str::to_owned)
        };
        cards.map(|card| id(card).unwrap()).collect()
    }

    /// Nothing that somebody else wrote became a part of the page.
    fn is_unharmed(&self) {
        for harm in ["<script>alert", "<b>", "onerror=", "href=\"javascript:", "href=\"data:", "\" onclick"] {
            // The icon of every page is a link of that kind, to nothing.
            assert!(!self.html.replace("href=\"data:,\"", "").contains(harm), "{harm}: {}", self.html);
        }
    }
}

fn token(id: u64, name: &str, more: Value) -> Change {
    token_of(with(json!({ "tokenId": id.to_string(), "name": name }), more))
}
