//! Manages how chains are followed.

use serde_json::json;

use crate::cli::{ChainCommand, Common};
use crate::context::{CommandError, Context};
use crate::output::print;

pub(super) async fn run(common: &Common, command: ChainCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let ChainCommand::Resync { network, yes } = command;
    let chain = context.chain(&network)?;
    if !yes {
        return Err(CommandError::Other(format!(
            "this forgets everything that chain {chain} stated of its collections, and reads it anew: add --yes"
        )));
    }
    context.store.resync_chain(chain, context.actor()).await?;
    context.store.close().await;
    print(common.json, &json!({ "chainId": chain }), || {
        format!("Chain {chain} is forgotten. `bourse serve` reads it anew.")
    })
}
