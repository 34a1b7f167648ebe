//! Adds collections whose chain is followed.

use bourse_store::{CollectionKey, Followed, ProjectScope};
use bourse_wire::{Address, ProjectId};
use serde_json::{Value, json};

use crate::cli::{CollectionCommand, Common};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common, command: CollectionCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match command {
        CollectionCommand::Add { network, contract, from, project } => {
            let key = CollectionKey { chain: context.chain(&network)?, address: contract };
            add(&context, key, from, project).await?;
            let value = json!({ "chainId": key.chain, "contractAddress": contract, "fromBlock": from });
            let has_node =
                context.settings.networks.get(key.chain.0).is_some_and(|found| !found.rpc_urls.is_empty());
            print(common.json, &value, || added(&network, contract, from, has_node))?;
        }
        CollectionCommand::List { network } => {
            let followed = context.store.followed(context.chain(&network)?).await?;
            print(common.json, &followed.iter().map(record).collect(), || {
                let rows = followed.iter().map(|collection| {
                    let state = if collection.live { "live" } else { "reading its history" };
                    [collection.key.address.to_string(), collection.next_block.to_string(), state.to_owned()]
                });
                table(["CONTRACT", "NEXT BLOCK", "STATE"], rows.collect())
            })?;
        }
    }
    context.store.close().await;
    Ok(())
}

async fn add(
    context: &Context,
    key: CollectionKey,
    from: u64,
    project: Option<ProjectId>,
) -> Result<(), CommandError> {
    if key.address == Address::ZERO {
        return Err(CommandError::Other("the zero address is no contract".to_owned()));
    }
    if let Some(project) = project {
        context.store.project(project).await?;
    }
    context.store.follow(key, from, context.actor()).await?;
    if let Some(project) = project {
        context.store.join_market(ProjectScope::of_operator(project), key).await?;
    }
    Ok(())
}

fn added(network: &str, contract: Address, from: u64, has_node: bool) -> String {
    let next = if has_node {
        "A running server takes it up by itself; `bourse status` shows how far it is.".to_owned()
    } else {
        format!("Nobody reads it yet: networks.{network}.rpc_url names no node.")
    };
    format!("{contract} on {network} is followed from block {from} on.\n{next}")
}

/// A followed collection as programs read it.
pub(super) fn record(collection: &Followed) -> Value {
    json!({
        "chainId": collection.key.chain,
        "contractAddress": collection.key.address,
        "fromBlock": collection.from,
        "nextBlock": collection.next_block,
        "live": collection.live,
    })
}
