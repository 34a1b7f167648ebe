//! Manages what is counted.

use bourse_store::ProjectScope;
use serde_json::json;

use crate::cli::{AnalyticsCommand, Common};
use crate::context::{CommandError, Context};
use crate::output::print;

pub(super) async fn run(common: &Common, command: AnalyticsCommand) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let AnalyticsCommand::Forget { project, wallet } = command;
    let scope = ProjectScope::of_operator(project);
    context.store.project(project).await?;
    let forgotten = context.counting_house().forget(scope, wallet, context.actor()).await;
    let forgotten = forgotten.map_err(|error| CommandError::Other(error.to_string()))?;
    context.store.close().await;
    let Some(forgotten) = forgotten else {
        return Err(CommandError::Other(format!("project {project} counted nothing of wallet {wallet}")));
    };
    let value = json!({
        "wallet": wallet,
        "activeDays": forgotten.active_days,
        "sentDays": forgotten.sent_days,
        "marketDays": forgotten.market_days,
        "rawEvents": forgotten.raw_events,
    });
    print(common.json, &value, || {
        format!(
            "Wallet {wallet} is forgotten: it is out of {} active days, {} with transactions and {} with trades, and \
             {} events as they came are deleted.\nWhat remains are numbers of events by day, which tell nothing of \
             any wallet. Should the wallet come back, it counts as a new one.",
            forgotten.active_days.len(),
            forgotten.sent_days,
            forgotten.market_days,
            forgotten.raw_events
        )
    })
}
