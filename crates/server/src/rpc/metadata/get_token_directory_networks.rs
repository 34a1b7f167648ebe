//! The chains that the directory has contracts of.

use bourse_wire::ChainId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contracts::{ContractQuery, Presentable, chains, chains_with};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which part of the directory.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetTokenDirectoryNetworksRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Whether test networks are in it.
    #[serde(default)]
    include_testnets: bool,
    /// Only chains of contracts that are featured; at most 20,000 contracts are looked at.
    #[serde(default)]
    only_featured: bool,
}
request!(Request);

/// The chains.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetTokenDirectoryNetworksAnswer")]
pub(crate) struct Answer {
    /// Their numbers, ascending.
    #[serde(rename = "chainIDs")]
    chain_ids: Vec<ChainId>,
    /// Their names in the same order; a number where a chain has no name here.
    networks: Vec<String>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let networks = &call.app.settings.networks;
    let mut chain_ids = chains(&call).await?;
    chain_ids.retain(|chain| request.include_testnets || !networks.is_testnet(chain.0));
    if request.only_featured {
        let presentable = Some(Presentable { testnets: true });
        let query = ContractQuery { presentable, featured: true, ..ContractQuery::default() };
        chain_ids = chains_with(&call, &chain_ids, &query).await?;
    }
    let networks = chain_ids.iter().map(|chain| networks.label(chain.0)).collect();
    Ok(Answer { chain_ids, networks })
}
