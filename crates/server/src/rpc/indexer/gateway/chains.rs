//! Which chains a request is about, and how they do.

use bourse_wire::{ChainId, ChainRef, Error};
use indexmap::IndexSet;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::call::{Call, resolve};
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::indexer::chain_status::{Checks, checkpoint};
use crate::rpc::runtime_status::RuntimeState;
use crate::settings::Network;

/// Chains that one request may be about.
const CHAINS_MAX: usize = 16;

/// Which chains; those that the settings name when none are named, by chain id and at most 16 of them.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "ChainsInput")]
pub(super) struct ChainsInput {
    /// Chains, by number or by name: at most 16.
    chain_ids: Vec<ChainRef>,
    /// More of them.
    networks: Vec<ChainRef>,
    /// One more of them.
    chain_id: Option<ChainRef>,
    /// Where none are named, which of those that the settings name; all when nothing is said. The first 16 of them by chain id are
    /// asked: name the others, as `GetChains` tells them.
    network_type: Option<NetworkType>,
}

/// Kinds of networks.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum NetworkType {
    /// Those where things have a price.
    Mainnets,
    /// Those to try things on.
    Testnets,
    /// All.
    All,
}

impl ChainsInput {
    /// The chains, each once.
    pub(super) fn read(&self, call: &Call) -> Result<Vec<ChainId>, Error> {
        let networks = &call.app.settings.networks;
        let too_many = || {
            let reason =
                format!("more than the {CHAINS_MAX} chains that one request may be about: name some");
            Error::invalid("chainIds", reason)
        };
        if self.chain_ids.len() > CHAINS_MAX || self.networks.len() > CHAINS_MAX {
            return Err(too_many());
        }
        let named = self.chain_ids.iter().chain(&self.networks).chain(&self.chain_id);
        let named = named.map(|chain| resolve(networks, chain.as_str()));
        let mut chains: IndexSet<ChainId> = named.collect::<Result<_, _>>()?;
        chains.extend(call.network);
        if chains.is_empty() {
            // Who names none is not refused because of how many there are.
            chains.extend(self.configured(call).map(|network| ChainId(network.id)).take(CHAINS_MAX));
        }
        if chains.len() > CHAINS_MAX {
            return Err(too_many());
        }
        Ok(chains.into_iter().collect())
    }

    /// The networks that the settings name, of the kind asked for.
    fn configured<'c>(&'c self, call: &'c Call) -> impl Iterator<Item = &'c Network> {
        let kind = self.network_type;
        let is_asked_for = move |network: &&Network| match kind {
            None | Some(NetworkType::All) => true,
            Some(NetworkType::Testnets) => network.is_for_tests(),
            Some(NetworkType::Mainnets) => !network.is_for_tests(),
        };
        call.app.settings.networks.iter().filter(|network| network.configured).filter(is_asked_for)
    }
}

/// A request of the Indexer, for several chains.
pub(super) struct OfChains<Q> {
    pub(super) chains: ChainsInput,
    pub(super) asked: Q,
}

impl<'de, Q: DeserializeOwned> Deserialize<'de> for OfChains<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Each part takes what is its own.
        let body = Value::deserialize(deserializer)?;
        let chains = bourse_wire::from_value(body.clone()).map_err(D::Error::custom)?;
        Ok(Self { chains, asked: bourse_wire::from_value(body).map_err(D::Error::custom)? })
    }
}

impl<Q: JsonSchema> JsonSchema for OfChains<Q> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Gateway{}", Q::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Q::json_schema(generator);
        let chains = ChainsInput::json_schema(generator);
        let more = chains.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let members =
            schema.ensure_object().entry("properties").or_insert_with(|| Value::Object(more.clone()));
        if let Some(members) = members.as_object_mut() {
            members.extend(more);
        }
        schema
    }
}

impl<Q: DeserializeOwned + JsonSchema + Send + 'static> crate::route::Request for OfChains<Q> {
    fn claimed_project(&self) -> Option<bourse_wire::ProjectId> {
        None
    }
}

/// Which chains.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayChainsRequest")]
pub(crate) struct Request {
    /// Which of the networks that the settings name; all when nothing is said.
    network_type: Option<NetworkType>,
}
request!(Request);

/// The chains.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetChainsAnswer")]
pub(crate) struct Answer {
    /// The networks that the settings name, by chain id.
    chains: Vec<Chain>,
}

/// A chain.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayChain")]
struct Chain {
    /// Its number.
    chain_id: ChainId,
    /// Its name.
    chain_name: String,
}

/// Nothing.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GatewayStatusRequest")]
pub(crate) struct StatusRequest {}
request!(StatusRequest);

/// How the service does.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayRuntimeStatusAnswer")]
pub(crate) struct StatusAnswer {
    status: Status,
}

/// How the service does, and each chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayRuntimeStatus")]
struct Status {
    #[serde(flatten)]
    state: RuntimeState,
    /// The networks that the settings name and that have a node.
    backends: Vec<Backend>,
}

/// How a chain does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayBackend")]
struct Backend {
    #[serde(flatten)]
    chain: Chain,
    /// The chain's name again.
    name: String,
    /// Always null: no time is taken.
    response_time: (),
    /// How far the chain is followed.
    checks: Checks,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let input = ChainsInput { network_type: request.network_type, ..ChainsInput::default() };
    let chains = input.configured(&call).map(Chain::from).collect();
    Ok(Answer { chains })
}

pub(crate) async fn runtime_status(call: Call, _request: StatusRequest) -> Result<StatusAnswer, Failure> {
    let input = ChainsInput::default();
    let mut backends = Vec::new();
    for network in input.configured(&call).filter(|network| !network.rpc_urls.is_empty()) {
        let checks = checkpoint(&call, ChainId(network.id)).await?;
        let name = network.name.clone();
        backends.push(Backend { chain: network.into(), name, response_time: (), checks });
    }
    Ok(StatusAnswer { status: Status { state: RuntimeState::of(&call.app), backends } })
}

impl From<&Network> for Chain {
    fn from(network: &Network) -> Self {
        Self { chain_id: ChainId(network.id), chain_name: network.name.clone() }
    }
}
