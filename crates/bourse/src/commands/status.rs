//! Shows how far chains are followed: what the database says, beside what the nodes say.

use bourse_server::{NetworkNodes, Nodes};
use serde_json::{Value, json};

use super::collection;
use crate::cli::Common;
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let nodes = Nodes::open(&context.settings.networks, &context.clock)
        .map_err(|error| CommandError::Other(error.to_string()))?;
    let mut networks = Vec::new();
    for nodes in nodes.iter() {
        networks.push(network(&context, nodes).await?);
    }
    context.store.close().await;
    print(common.json, &json!({ "networks": networks }), || {
        if networks.is_empty() {
            return "No network has a node: set networks.NAME.rpc_url.".to_owned();
        }
        let rows = networks.iter().map(row).collect();
        table(["NETWORK", "HEAD", "CHECKPOINT", "LAG", "COLLECTIONS", "LIVE", "ERROR"], rows)
    })
}

async fn network(context: &Context, nodes: &NetworkNodes) -> Result<Value, CommandError> {
    let state = context.store.chain_state(nodes.chain()).await?;
    let followed = context.store.followed(nodes.chain()).await?;
    let checkpoint = state.map(|state| state.checkpoint.number);
    let (head, error) = match nodes.head().await {
        Ok(block) => (Some(block.number), None),
        Err(error) => (None, Some(error)),
    };
    Ok(json!({
        "name": nodes.name(),
        "chainId": nodes.chain(),
        "head": head,
        "checkpoint": checkpoint,
        "lag": head.zip(checkpoint).map(|(head, checkpoint)| head.saturating_sub(checkpoint)),
        "collections": followed.iter().map(collection::record).collect::<Vec<_>>(),
        "error": error,
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
