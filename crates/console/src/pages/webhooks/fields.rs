//! What is entered of a webhook.

use bourse_store::Webhook;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::form::Form;

/// A webhook as it is entered.
pub(super) struct Entered {
    name: String,
    url: String,
    contracts: String,
    events: String,
    accounts: String,
    tokens: String,
}

/// What somebody sent, to be shown again.
pub(super) fn entered(form: &Form) -> Entered {
    let text = |name| form.text(name).to_owned();
    Entered {
        name: text("name"),
        url: text("url"),
        contracts: text("contracts"),
        events: text("events"),
        accounts: text("accounts"),
        tokens: text("tokens"),
    }
}

/// A webhook as it is, to be changed.
pub(super) fn of(webhook: &Webhook) -> Entered {
    fn lines<T: ToString>(values: &[T]) -> String {
        values.iter().map(T::to_string).collect::<Vec<_>>().join("\n")
    }
    let filters = &webhook.filters;
    Entered {
        name: webhook.name.clone(),
        url: webhook.url.clone(),
        contracts: lines(&filters.contract_addresses),
        events: lines(&filters.events),
        accounts: lines(&filters.accounts),
        tokens: lines(&filters.token_ids),
    }
}

pub(super) fn inputs(entered: &Entered) -> Markup {
    html! {
        label { "Name" input name="name" value=(entered.name) maxlength="256"; }
        label { "Address" input name="url" type="url" value=(entered.url) maxlength="2048" required; }
        label { "Contracts, one a line" textarea name="contracts" rows="3" required { (entered.contracts) } }
        label {
            "Kinds, one a line; any where there is none"
            textarea name="events" rows="3" placeholder="sale" { (entered.events) }
        }
        label {
            "Accounts that give or get, one a line; any where there is none"
            textarea name="accounts" rows="2" { (entered.accounts) }
        }
        label {
            "Tokens by id, one a line; any where there is none"
            textarea name="tokens" rows="2" { (entered.tokens) }
        }
    }
}

/// What was entered, as operations take it.
pub(super) fn body(form: &Form) -> Value {
    let filters = json!({
        "contractAddresses": form.lines("contracts"), "events": form.lines("events"),
        "accounts": form.lines("accounts"), "tokenIDs": form.lines("tokens"),
    });
    json!({ "chainId": form.text("chain"), "url": form.text("url"), "name": form.text("name"), "filters": filters })
}
