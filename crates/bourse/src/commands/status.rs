//! Shows how far chains are followed: what the database says, beside what the nodes say; and what currencies are worth.

use bourse_server::{NetworkNodes, Nodes};
use bourse_wire::{Currency, Timestamp};
use serde_json::{Value, json};

use super::collection;
use crate::cli::Common;
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let networks = &context.settings.networks;
    let nodes = Nodes::open(networks, &networks.registry(), &context.clock)
        .map_err(|error| CommandError::Other(error.to_string()))?;
    let mut networks = Vec::new();
    for nodes in nodes.iter() {
        networks.push(network(&context, nodes).await?);
    }
    let currencies = context.store.currencies().await?;
    context.store.close().await;
    let records: Vec<Value> = currencies.iter().map(currency).collect();
    print(common.json, &json!({ "networks": networks, "currencies": records }), || {
        let networks = if networks.is_empty() {
            "No network has a node: set networks.NAME.rpc_url.".to_owned()
        } else {
            let rows = networks.iter().map(row).collect();
            table(["NETWORK", "HEAD", "CHECKPOINT", "LAG", "COLLECTIONS", "LIVE", "ERROR"], rows)
        };
        if currencies.is_empty() {
            return networks;
        }
        let rows = currencies.iter().map(|currency| currency_row(&context, currency)).collect();
        format!("{networks}\n\n{}", table(["NETWORK", "CURRENCY", "ADDRESS", "US DOLLARS", "TOLD AT"], rows))
    })
}

fn currency(currency: &Currency) -> Value {
    let told = currency.rate.as_ref();
    json!({
        "chainId": currency.chain_id,
        "contractAddress": currency.contract_address,
        "symbol": currency.symbol,
        "exchangeRate": told.map(|told| &told.rate),
        "exchangeRateUpdatedAt": told.map(|told| told.at),
    })
}

fn currency_row(context: &Context, currency: &Currency) -> [String; 5] {
    let told = currency.rate.as_ref();
    let at = told.map(|told| told.at).filter(|at| *at != Timestamp::ZERO);
    [
        context.settings.networks.label(currency.chain_id.0),
        currency.symbol.clone(),
        currency.contract_address.to_string(),
        told.map_or_else(|| "-".to_owned(), |told| told.rate.to_string()),
        at.map_or_else(|| "-".to_owned(), |at| at.to_string()),
    ]
}

async fn network(context: &Context, nodes: &NetworkNodes) -> Result<Value, CommandError> {
    let state = context.store.chain_state(nodes.chain()).await?;
    let followed = context.store.followed(nodes.chain()).await?;
    let checkpoint = state.map(|state| state.checkpoint.number);
    let (head, failed) = match nodes.head().await {
        Ok(block) => (Some(block.number), None),
        Err(error) => (None, Some(error)),
    };
    let subscription = nodes.try_subscription(&context.clock).await;
    let silent = subscription.as_ref().and_then(|tried| tried.as_ref().err());
    let silent = silent.map(|reason| format!("no node tells of new blocks: {reason}"));
    let errors: Vec<String> = failed.into_iter().chain(silent).collect();
    Ok(json!({
        "name": nodes.name(),
        "chainId": nodes.chain(),
        "head": head,
        "checkpoint": checkpoint,
        "lag": head.zip(checkpoint).map(|(head, checkpoint)| head.saturating_sub(checkpoint)),
        "collections": followed.iter().map(collection::record).collect::<Vec<_>>(),
        "subscribed": subscription.map(|tried| tried.is_ok()),
        "error": (!errors.is_empty()).then(|| errors.join("; ")),
    }))
}

fn row(network: &Value) -> [String; 7] {
    let number = |member: &str| network[member].as_u64().map_or("-".to_owned(), |number| number.to_string());
    let text = |member: &str| network[member].as_str().unwrap_or_default().to_owned();
    let collections = network["collections"].as_array().map(Vec::as_slice).unwrap_or_default();
    let live = collections.iter().filter(|collection| collection["live"] == true).count();
    [
        text("name"),
        number("head"),
        number("checkpoint"),
        number("lag"),
        collections.len().to_string(),
        live.to_string(),
        text("error"),
    ]
}
