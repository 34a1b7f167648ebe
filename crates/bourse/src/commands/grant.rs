//! Lets projects state what all projects share, and takes that back.

use bourse_store::{CollectionKey, Grant, ProjectScope, Reach, Subject};
use bourse_wire::{Error, ProjectId};
use serde_json::{Value, json};

use crate::cli::{Common, GrantCommand, GrantTerms};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common, command: GrantCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match command {
        GrantCommand::Add { project, terms } => {
            let (scope, grant) = (ProjectScope::of_operator(project), read(&context, &terms)?);
            context.store.add_grants(scope, vec![grant], context.actor()).await?;
            print(common.json, &record(&grant), || format!("Project {project} may state {grant}."))
        }
        GrantCommand::List { project } => {
            let scope = ProjectScope::of_operator(project);
            context.store.project(project).await?;
            let grants = context.store.grants(scope).await?;
            print(common.json, &grants.iter().map(record).collect(), || {
                let rows = grants.iter().map(|grant| {
                    let (chain, contract) = names(grant.reach);
                    [grant.subject.word().to_owned(), chain, contract]
                });
                table(["SUBJECT", "CHAIN", "CONTRACT"], rows.collect())
            })
        }
        GrantCommand::Remove { project, terms } => {
            let (scope, grant) = (ProjectScope::of_operator(project), read(&context, &terms)?);
            context.store.remove_grant(scope, grant, context.actor()).await?;
            print(common.json, &record(&grant), || format!("Project {project} may no longer state {grant}."))
        }
    }
}

fn read(context: &Context, terms: &GrantTerms) -> Result<Grant, CommandError> {
    let chain = terms.network.as_ref().map(|network| context.chain(network)).transpose()?;
    let reach = match (chain, terms.contract) {
        (Some(chain), Some(address)) => Reach::Contract(CollectionKey { chain, address }),
        (Some(chain), None) => Reach::Chain(chain),
        (None, None) => Reach::Everywhere,
        (None, Some(_)) => return Err(Error::invalid("contract", "needs --network as well").into()),
    };
    Ok(Grant { subject: terms.subject, reach })
}

fn names(reach: Reach) -> (String, String) {
    match reach {
        Reach::Everywhere => ("all".to_owned(), "all".to_owned()),
        Reach::Chain(chain) => (chain.to_string(), "all".to_owned()),
        Reach::Contract(CollectionKey { chain, address }) => (chain.to_string(), address.to_string()),
    }
}

pub(super) fn record(grant: &Grant) -> Value {
    let (chain, contract) = names(grant.reach);
    json!({ "subject": grant.subject.word(), "chainId": chain, "contractAddress": contract })
}

/// What a new project may state, or how it may.
pub(super) fn advice(project: ProjectId, grants: &[Grant]) -> String {
    if grants.is_empty() {
        return format!(
            "It may state nothing of what it shares with other projects: no tokens, balances, orders or currencies.\n\
             Let it with `bourse grant add {project} {}`, for one contract with --network and --contract.",
            Subject::Collections.word()
        );
    }
    "It is the only project, so it may state everything: tokens, balances, orders, contracts and currencies of every chain.\n\
     `bourse grant list` and `bourse grant remove` tell more and change that."
        .to_owned()
}
