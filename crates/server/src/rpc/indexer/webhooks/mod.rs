//! Addresses of a project that are told what happens.

mod add_webhook_listener;
mod get_all_webhook_listeners;
mod get_webhook_listener;
mod pause_all_webhook_listeners;
mod remove_all_webhook_listeners;
mod remove_webhook_listener;
mod resume_all_webhook_listeners;
mod toggle_webhook_listener;
mod types;
mod update_webhook_listener;

use crate::route::Credential::SecretToken;
use crate::route::Route;
use crate::route::Service::Indexer;

/// Bodies to try operations with.
const NEW: &str = r#"{"chainId":"amoy","url":"https://hooks.example/bourse","filters":{"events":["sale","Transfer"],"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}}"#;
const CHANGED: &str = r#"{"listener":{"id":1,"name":"Sales","filters":{"events":["sale"],"contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}}}"#;
const ONE: &str = r#"{"id":1}"#;
const CHAIN: &str = r#"{"chainId":"amoy"}"#;

/// The operations on webhooks.
pub(super) fn operations() -> Vec<Route> {
    let mut operations = listener_operations();
    operations.extend(operations_on_all());
    operations
}

fn listener_operations() -> Vec<Route> {
    vec![
        Indexer
            .writes(
                "AddWebhookListener",
                SecretToken,
                "Has what happens in contracts sent to an address, from then on. The answer has the secret that signs it.",
                add_webhook_listener::handle,
            )
            .example(NEW),
        Indexer
            .writes(
                "UpdateWebhookListener",
                SecretToken,
                "Changes where a webhook is sent and what it tells, or pauses and resumes it. What is left out stays.",
                update_webhook_listener::handle,
            )
            .example(CHANGED),
        Indexer
            .reads(
                "GetWebhookListener",
                SecretToken,
                "Reads a webhook of the project.",
                get_webhook_listener::handle,
            )
            .example(ONE),
        Indexer
            .writes(
                "ToggleWebhookListener",
                SecretToken,
                "Pauses a webhook, or resumes one that is paused, with what happened meanwhile.",
                toggle_webhook_listener::handle,
            )
            .example(ONE),
        Indexer
            .writes(
                "RemoveWebhookListener",
                SecretToken,
                "Removes a webhook, with what could not be delivered to it.",
                remove_webhook_listener::handle,
            )
            .example(ONE),
    ]
}

fn operations_on_all() -> Vec<Route> {
    vec![
        Indexer
            .reads(
                "GetAllWebhookListeners",
                SecretToken,
                "Lists the project's webhooks, of a chain or of all.",
                get_all_webhook_listeners::handle,
            )
            .example(CHAIN),
        Indexer
            .writes(
                "PauseAllWebhookListeners",
                SecretToken,
                "Pauses the project's webhooks, of a chain or of all.",
                pause_all_webhook_listeners::handle,
            )
            .example(CHAIN),
        Indexer
            .writes(
                "ResumeAllWebhookListeners",
                SecretToken,
                "Resumes the project's webhooks, of a chain or of all, with what happened meanwhile.",
                resume_all_webhook_listeners::handle,
            )
            .example(CHAIN),
        Indexer
            .writes(
                "RemoveAllWebhookListeners",
                SecretToken,
                "Removes the project's webhooks, of a chain or of all.",
                remove_all_webhook_listeners::handle,
            )
            .example(CHAIN),
    ]
}
