//! `bourse doctor --deep`: asks contracts whether what was followed of who holds their tokens is so.

use bourse_server::settings::Settings;
use bourse_server::{Clock, NetworkNodes, Nodes};
use bourse_store::{MigrationState, Store};

use super::doctor::first_of;
use crate::context::CommandError;

/// Collections of each network that are asked about unless all are.
const SAMPLE: usize = 16;
/// How many balances of each collection are asked about, for each digit that a token's number may begin with.
const BALANCES: u64 = 4;
const BALANCES_WHOLE: u64 = 100;

#[derive(Default)]
struct Compared {
    collections: usize,
    equal: usize,
    untold: usize,
    differences: Vec<String>,
}

/// What was found, or what to do.
pub(super) async fn check(settings: &Settings, is_whole: bool) -> Result<String, String> {
    let opened = Store::connect(&settings.database_url(), settings.open_options()).await;
    let store = opened.map_err(|error| error.to_string())?;
    let compared = compare(settings, &store, is_whole).await;
    store.close().await;
    let Some(compared) = compared.map_err(|error| error.to_string())? else {
        return Ok("no collection is followed to its end: nothing to ask".to_owned());
    };
    let Compared { collections, equal, untold, differences } = compared;
    let found = format!(
        "{equal} balances of {collections} followed collections are what their contracts say at the checkpoint, \
        {untold} could not be compared"
    );
    if differences.is_empty() {
        return Ok(found);
    }
    let told = first_of(&differences);
    Err(format!(
        "{found}; {} differ: {told}. A node left out logs: name another one, then have each collection read anew with \
        `bourse collection remove` and `bourse collection add --from`",
        differences.len()
    ))
}

/// Nothing where there is nothing to ask about.
async fn compare(
    settings: &Settings,
    store: &Store,
    is_whole: bool,
) -> Result<Option<Compared>, CommandError> {
    if store.schema_state().await?.state() != MigrationState::UpToDate {
        return Ok(None);
    }
    let networks = &settings.networks;
    let nodes = Nodes::open(networks, &networks.registry(), &Clock::system())
        .map_err(|error| CommandError::Other(error.to_string()))?;
    let mut compared = Compared::default();
    for nodes in nodes.iter() {
        compare_network(store, nodes, is_whole, &mut compared).await?;
    }
    Ok((compared.collections > 0).then_some(compared))
}

async fn compare_network(
    store: &Store,
    nodes: &NetworkNodes,
    is_whole: bool,
    compared: &mut Compared,
) -> Result<(), CommandError> {
    let followed = store.followed(nodes.chain()).await?;
    let live: Vec<_> = followed.into_iter().filter(|followed| followed.live).collect();
    let step = if is_whole { 1 } else { live.len().div_ceil(SAMPLE).max(1) };
    let balances = if is_whole { BALANCES_WHOLE } else { BALANCES };
    for followed in live.iter().step_by(step) {
        let collection = followed.key.address;
        let sample = store.held_sample(nodes.chain(), followed.id, balances).await?;
        let Some(sample) = sample else { continue };
        let asked = nodes.compare_held(collection, &sample).await;
        let report = asked.map_err(|error| {
            CommandError::Other(format!(
                "{collection} could not be asked about at block {} of {}: {error}. Look at networks.{}.rpc_url",
                sample.number,
                nodes.name(),
                nodes.name()
            ))
        })?;
        compared.collections += 1;
        compared.equal += report.equal;
        compared.untold += report.untold;
        compared.differences.extend(report.different.iter().map(|(stored, told)| {
            format!(
                "{} holds {} of token {} of {collection} by what was followed, and {told} by its contract",
                stored.account, stored.balance, stored.token_id
            )
        }));
    }
    Ok(())
}
