//! Adds and removes collections whose chain is followed.

use bourse_store::{CollectionKey, Followed, ProjectFollow, ProjectScope};
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
            let from = add(&context, key, from, project).await?;
            let value = json!({ "chainId": key.chain, "contractAddress": contract, "fromBlock": from });
            let has_node =
                context.settings.networks.get(key.chain.0).is_some_and(|found| !found.rpc_urls.is_empty());
            print(common.json, &value, || added(&network, contract, from, has_node))?;
        }
        CollectionCommand::List { network } => {
            let followed = context.store.followed(context.chain(&network)?).await?;
            let followers = context.store.followers().await?;
            let asking = |id| followers.iter().filter(move |(of, _)| *of == id).map(|(_, project)| *project);
            let records = followed.iter().map(|collection| {
                let mut record = record(collection);
                record["projects"] = asking(collection.id).map(|project| json!(project)).collect();
                record
            });
            print(common.json, &records.collect(), || {
                let rows = followed.iter().map(|collection| {
                    let state = if collection.live { "live" } else { "reading its history" };
                    let projects: Vec<String> = asking(collection.id).map(|id| id.to_string()).collect();
                    let (from, next) = (collection.from.to_string(), collection.next_block.to_string());
                    let contract = collection.key.address.to_string();
                    [contract, from, next, state.to_owned(), projects.join(", ")]
                });
                table(["CONTRACT", "FROM BLOCK", "NEXT BLOCK", "STATE", "PROJECTS"], rows.collect())
            })?;
        }
        CollectionCommand::Remove { network, contract } => {
            let key = CollectionKey { chain: context.chain(&network)?, address: contract };
            context.store.unfollow(key, context.actor()).await?;
            let value = json!({ "chainId": key.chain, "contractAddress": contract });
            print(common.json, &value, || removed(&network, contract))?;
        }
    }
    context.store.close().await;
    Ok(())
}

/// Follows a collection, and tells the first block that is read of it.
async fn add(
    context: &Context,
    key: CollectionKey,
    from: u64,
    project: Option<ProjectId>,
) -> Result<u64, CommandError> {
    if key.address == Address::ZERO {
        return Err(CommandError::Other("the zero address is no contract".to_owned()));
    }
    if let Some(project) = project {
        let follow = ProjectFollow { key, from, most: None };
        let followed =
            context.store.follow_for(ProjectScope::of_operator(project), follow, context.actor()).await?;
        return Ok(followed.from);
    }
    context.store.follow(key, from, context.actor()).await?;
    let followed = context.store.following(key).await?;
    Ok(followed.map_or(from, |followed| followed.from))
}

fn added(network: &str, contract: Address, from: u64, has_node: bool) -> String {
    let next = if has_node {
        "A running server takes it up by itself; `bourse status` shows how far it is.".to_owned()
    } else {
        format!("Nobody reads it yet: networks.{network}.rpc_url names no node.")
    };
    format!("{contract} on {network} is followed from block {from} on.\n{next}")
}

fn removed(network: &str, contract: Address) -> String {
    format!(
        "{contract} on {network} is no longer followed. Its tokens and its history stay; its holders and open orders are \
        forgotten.\nTo follow it again, from its first block on: `bourse collection add {network} {contract}`"
    )
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
