//! One line, one record.

use std::collections::HashSet;

use bourse_server::settings::Networks;
use bourse_store::{
    AudienceContractInput, AudienceImport, Change, CollectionKey, Event, EventKind, METERED_PREFIX, UsageLine,
};
use bourse_wire::{
    Address, Amount, ChainId, ChainRef, Code, ContactInput, ContractInfo, ContractInfoExtensions,
    ContractSource, ContractType, Currency, Day, Error, ExchangeRate, JsonObject, OrderInput, ProjectId,
    ServiceName, Text, Timestamp, TokenId, TokenInput, TokenMetadata, from_value, take_member,
};
use serde::Deserialize;
use serde_json::Value;

/// The most units of one line: sums over many lines stay far below what an integer holds.
const UNITS_MAX: u64 = 1_000_000_000_000;

/// A record that makes sense by itself.
pub(crate) enum Record {
    /// Something of a collection.
    Collection(CollectionKey, Change),
    /// A currency.
    Currency(Currency),
    /// Something a wallet did.
    Event(ProjectId, Event),
    /// Compute units used.
    Usage(ProjectId, UsageLine),
    /// An audience.
    Audience(ProjectId, AudienceImport),
}

/// Turns lines into records, with all that is needed to check them.
pub(crate) struct Reader {
    service: ServiceName,
    networks: Networks,
    projects: HashSet<ProjectId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CurrencyLine {
    chain_id: ChainRef,
    contract_address: Address,
    name: Text<256>,
    symbol: Text<64>,
    decimals: u8,
    image_url: Option<Text<8192>>,
    exchange_rate: Option<ExchangeRate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContractLine {
    chain_id: ChainRef,
    address: Address,
    contract_type: ContractType,
    #[serde(default)]
    name: Text<2048>,
    #[serde(default)]
    symbol: Text<256>,
    decimals: Option<u8>,
    #[serde(default, rename = "logoURI")]
    logo_uri: Text<262_144>,
    #[serde(default)]
    deployed: bool,
    #[serde(default)]
    bytecode_hash: Text<128>,
    #[serde(default)]
    extensions: ExtensionsLine,
    #[serde(default)]
    updated_at: Timestamp,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ExtensionsLine {
    link: Text<8192>,
    description: Text<65536>,
    og_image: Text<262_144>,
    og_name: Text<2048>,
    origin_chain_id: u64,
    origin_address: Text<64>,
    verified: bool,
    verified_by: Text<256>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BalanceLine {
    chain_id: ChainRef,
    contract_address: Address,
    token_id: TokenId,
    account: Address,
    balance: Amount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventLine {
    project_id: ProjectId,
    wallet: Address,
    kind: Text<32>,
    at: Timestamp,
    id: Text<256>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageRecordLine {
    project_id: ProjectId,
    service: Text<64>,
    day: Day,
    units: u64,
    id: Text<256>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AudienceLine {
    project_id: ProjectId,
    name: Text<256>,
    #[serde(default)]
    contacts: Vec<ContactInput>,
    #[serde(default)]
    contracts: Vec<AudienceContractLine>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AudienceContractLine {
    contract_name: Text<256>,
    contract_address: Address,
    contract_type: Text<64>,
    chain_id: ChainRef,
    source: Option<Text<16>>,
    items_contract_address: Option<Address>,
    #[serde(default)]
    abi: Text<1_048_576>,
    #[serde(default)]
    bytecode: Text<1_048_576>,
    #[serde(default)]
    bytecode_hash: Text<128>,
}

impl Reader {
    /// A reader that knows these networks and projects.
    pub(crate) fn new(service: ServiceName, networks: Networks, projects: HashSet<ProjectId>) -> Self {
        Self { service, networks, projects }
    }

    /// Reads a line.
    pub(crate) fn read(&self, line: &[u8]) -> Result<Record, Error> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| Error::new(Code::BadRequest, "not JSON").with_cause(error.to_string()))?;
        self.record(value)
    }

    /// Reads a record that was parsed already.
    pub(crate) fn record(&self, value: Value) -> Result<Record, Error> {
        let Value::Object(mut members) = value else {
            return Err(Error::new(Code::BadRequest, "not a JSON object"));
        };
        let kind = take_member(&mut members, "type");
        match kind.as_ref().and_then(Value::as_str) {
            Some("token") => self.token(members),
            Some("balance") => self.balance(&from_value(Value::Object(members))?),
            Some("order") => self.order(from_value(Value::Object(members))?),
            Some("contract") => self.contract(from_value(Value::Object(members))?),
            Some("currency") => self.currency(from_value(Value::Object(members))?),
            Some("event") => self.event(from_value(Value::Object(members))?),
            Some("usage") => self.usage(from_value(Value::Object(members))?),
            Some("audience") => self.audience(from_value(Value::Object(members))?),
            Some(other) => Err(Error::invalid(
                "type",
                format!(
                    "`{other:.64}` is none of currency, contract, token, balance, order, event, usage, audience"
                ),
            )),
            None => Err(Error::invalid("type", "is required, as a string")),
        }
    }

    fn chain(&self, chain: &ChainRef) -> Result<ChainId, Error> {
        let unknown =
            || Error::invalid("chainId", format!("`{chain:.64}` is not the name or number of a network"));
        self.networks.resolve(chain.as_str()).map(ChainId).ok_or_else(unknown)
    }

    fn project(&self, project: ProjectId) -> Result<ProjectId, Error> {
        let unknown = || Error::invalid("projectId", format!("there is no project {project}"));
        self.projects.contains(&project).then_some(project).ok_or_else(unknown)
    }

    /// The members beside chain and contract are those of token metadata; they are taken apart rather than copied, as
    /// most lines of an import are tokens.
    fn token(&self, mut members: JsonObject) -> Result<Record, Error> {
        let mut required =
            |name: &str| take_member(&mut members, name).ok_or_else(|| Error::invalid(name, "is required"));
        let (chain, contract) = (required("chainId")?, required("contractAddress")?);
        let within = |member: &'static str| move |error| Error::invalid(member, error);
        let chain: ChainRef = from_value(chain).map_err(within("chainId"))?;
        let address: Address = from_value(contract).map_err(within("contractAddress"))?;
        let key = CollectionKey { chain: self.chain(&chain)?, address };
        let input: TokenInput = from_value(Value::Object(members))?;
        let token_id = input.token_id.ok_or_else(|| Error::invalid("tokenId", "is required"))?;
        let updated_at = input.updated_at.unwrap_or_default();
        let mut token = TokenMetadata { token_id, updated_at, ..TokenMetadata::default() };
        input.apply(&mut token);
        Ok(Record::Collection(key, Change::Token { token_id, metadata: token.to_json()? }))
    }

    fn balance(&self, line: &BalanceLine) -> Result<Record, Error> {
        let key = CollectionKey { chain: self.chain(&line.chain_id)?, address: line.contract_address };
        let change =
            Change::Balance { token_id: line.token_id, account: line.account, balance: line.balance };
        Ok(Record::Collection(key, change))
    }

    fn order(&self, line: OrderInput) -> Result<Record, Error> {
        let chain = self.chain(&line.chain_id)?;
        let key = CollectionKey { chain, address: line.collection_contract_address };
        let facts = line
            .facts(&self.service)
            .map_err(|error| Error::new(Code::InvalidArgument, error.to_string()))?;
        Ok(Record::Collection(key, Change::Order(Box::new(facts))))
    }

    fn contract(&self, line: ContractLine) -> Result<Record, Error> {
        let chain = self.chain(&line.chain_id)?;
        let origin = match line.extensions.origin_address.as_str() {
            "" => line.address,
            text => text.parse().map_err(|error| Error::invalid("extensions.originAddress", error))?,
        };
        let info = ContractInfo {
            chain_id: chain,
            address: line.address,
            name: line.name.into_string(),
            r#type: line.contract_type,
            symbol: line.symbol.into_string(),
            decimals: line.decimals.map(u64::from),
            logo_uri: line.logo_uri.into_string(),
            deployed: line.deployed,
            bytecode_hash: line.bytecode_hash.into_string(),
            extensions: ContractInfoExtensions {
                link: line.extensions.link.into_string(),
                description: line.extensions.description.into_string(),
                og_image: line.extensions.og_image.into_string(),
                og_name: line.extensions.og_name.into_string(),
                origin_chain_id: line.extensions.origin_chain_id,
                origin_address: origin,
                verified: line.extensions.verified,
                verified_by: line.extensions.verified_by.into_string(),
            },
            updated_at: line.updated_at,
        };
        let key = CollectionKey { chain, address: line.address };
        Ok(Record::Collection(key, Change::Contract(info.to_json()?)))
    }

    fn currency(&self, line: CurrencyLine) -> Result<Record, Error> {
        Ok(Record::Currency(Currency {
            chain_id: self.chain(&line.chain_id)?,
            contract_address: line.contract_address,
            name: line.name.into_string(),
            symbol: line.symbol.into_string(),
            decimals: line.decimals,
            image_url: line.image_url.unwrap_or_default().into_string(),
            exchange_rate: line.exchange_rate,
        }))
    }

    fn event(&self, line: EventLine) -> Result<Record, Error> {
        let kind = match line.kind.as_str() {
            "session" => EventKind::Session,
            "transaction" => EventKind::Transaction,
            "market" => EventKind::Market,
            other => {
                return Err(Error::invalid(
                    "kind",
                    format!("`{other}` is none of session, transaction, market"),
                ));
            }
        };
        let event = Event { id: line.id.into_string(), wallet: line.wallet, kind, at: line.at };
        Ok(Record::Event(self.project(line.project_id)?, event))
    }

    fn usage(&self, line: UsageRecordLine) -> Result<Record, Error> {
        if line.id.as_str().starts_with(METERED_PREFIX) {
            return Err(Error::invalid("id", format!("must not begin with {METERED_PREFIX}")));
        }
        if line.units > UNITS_MAX {
            return Err(Error::invalid(
                "units",
                format!("{} where at most {UNITS_MAX} are allowed", line.units),
            ));
        }
        let project = self.project(line.project_id)?;
        let (id, service) = (line.id.into_string(), line.service.into_string());
        Ok(Record::Usage(project, UsageLine { id, service, day: line.day, units: line.units }))
    }

    fn audience(&self, line: AudienceLine) -> Result<Record, Error> {
        let mut contracts = Vec::with_capacity(line.contracts.len());
        for contract in line.contracts {
            let source = contract.source.map_or(Ok(ContractSource::Linked), |word| word.as_str().parse());
            contracts.push(AudienceContractInput {
                chain: self.chain(&contract.chain_id)?,
                address: contract.contract_address,
                name: contract.contract_name.into_string(),
                contract_type: contract.contract_type.into_string(),
                source: source.map_err(|error| Error::invalid("contracts.source", error))?,
                items_contract_address: contract.items_contract_address,
                abi: contract.abi.into_string(),
                bytecode: contract.bytecode.into_string(),
                bytecode_hash: contract.bytecode_hash.into_string(),
            });
        }
        let audience = AudienceImport { name: line.name, contacts: line.contacts, contracts };
        Ok(Record::Audience(self.project(line.project_id)?, audience))
    }
}
