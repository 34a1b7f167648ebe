//! One line, one record.

use std::collections::HashSet;

use bourse_protocols::venues::Registry;
use bourse_server::Clock;
use bourse_server::counting::TrackedEvent;
use bourse_server::ingest::{
    self, Chains, EventInput, OrderSubmission, balance_not_stated, contract_change, not_stated, token_change,
    unasked,
};
use bourse_server::settings::{Networks, Settings};
use bourse_store::{AudienceContractInput, AudienceImport, Change, CollectionKey, METERED_PREFIX, UsageLine};
use bourse_wire::{
    Address, ChainRef, Code, ContactInput, ContractSource, Currency, Day, Error, JsonObject, ProjectId,
    ServiceName, Text, from_value, parse_json, take_member,
};
use serde::Deserialize;
use serde_json::Value;

/// The most units of one line: sums over many lines stay far below what an integer holds.
const UNITS_MAX: u64 = 1_000_000_000_000;

/// Levels of nesting of an event that is read in one pass.
const EVENT_DEPTH_MAX: usize = 16;

/// A record that makes sense by itself.
pub(crate) enum Record {
    /// Something of a collection.
    Collection(CollectionKey, Change),
    /// A currency.
    Currency(Currency),
    /// Something a wallet did.
    Event(ProjectId, TrackedEvent),
    /// Compute units used.
    Usage(ProjectId, UsageLine),
    /// An audience.
    Audience(ProjectId, AudienceImport),
}

/// Turns lines into records, with all that is needed to check them.
pub(crate) struct Reader {
    service: ServiceName,
    json_depth_max: usize,
    networks: Networks,
    registry: Registry,
    projects: HashSet<ProjectId>,
    followed: HashSet<CollectionKey>,
    clock: Clock,
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
    /// A reader that knows what the settings name, these projects, and the time.
    pub(crate) fn new(settings: &Settings, projects: HashSet<ProjectId>, clock: Clock) -> Self {
        let networks = settings.networks.clone();
        Self {
            service: ServiceName::new(&settings.service.name),
            json_depth_max: settings.limits.json_depth_max,
            registry: networks.registry(),
            networks,
            projects,
            followed: HashSet::new(),
            clock,
        }
    }

    /// The same, refusing what the chains of these collections state.
    pub(crate) fn beside(self, followed: HashSet<CollectionKey>) -> Self {
        Self { followed, ..self }
    }

    /// Reads a line.
    pub(crate) fn read(&self, line: &[u8]) -> Result<Record, Error> {
        if let Some(event) = self.quick_event(line) {
            return Ok(event);
        }
        self.record(parse_json(line, self.json_depth_max)?)
    }

    /// Reads a record that was parsed already.
    pub(crate) fn record(&self, value: Value) -> Result<Record, Error> {
        let Value::Object(mut members) = value else {
            return Err(Error::new(Code::BadRequest, "not a JSON object"));
        };
        let kind = take_member(&mut members, "type");
        match kind.as_ref().and_then(Value::as_str) {
            Some("token") => self.token(members),
            Some("balance") => self.balance(members),
            Some("order") => self.order(members),
            Some("contract") => self.contract(members),
            Some("currency") => Ok(Record::Currency(self.shared().currency(members)?)),
            Some("event") => self.event(members),
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

    /// The reader of the records that can also be put through the service.
    fn shared(&self) -> ingest::Reader<'_> {
        let Self { service, networks, registry, clock, .. } = self;
        ingest::Reader { service, networks, registry, chains: Chains::Named, now: clock.now() }
    }

    fn token(&self, members: JsonObject) -> Result<Record, Error> {
        let (collection, token) = self.shared().token(members)?;
        Ok(Record::Collection(collection, token_change(&token, true)?))
    }

    fn contract(&self, members: JsonObject) -> Result<Record, Error> {
        let (collection, contract) = self.shared().contract(members)?;
        Ok(Record::Collection(collection, contract_change(&contract, true)?))
    }

    fn order(&self, members: JsonObject) -> Result<Record, Error> {
        let (collection, order) = self.shared().any_order(members)?;
        not_stated(collection, order.facts().marketplace, self.followed.contains(&collection))?;
        let change = match order {
            OrderSubmission::Facts(facts) => Change::Order(facts),
            OrderSubmission::Signed(signed) => {
                Change::SignedOrder(Box::new(unasked(*signed, self.clock.now())?))
            }
        };
        Ok(Record::Collection(collection, change))
    }

    fn balance(&self, members: JsonObject) -> Result<Record, Error> {
        let (collection, balance) = self.shared().balance(members)?;
        balance_not_stated(collection, self.followed.contains(&collection))?;
        Ok(Record::Collection(collection, balance))
    }

    fn project(&self, project: ProjectId) -> Result<ProjectId, Error> {
        let unknown = || Error::invalid("projectId", format!("there is no project {project}"));
        self.projects.contains(&project).then_some(project).ok_or_else(unknown)
    }

    fn quick_event(&self, line: &[u8]) -> Option<Record> {
        let (project, event) = EventInput::from_line(line, EVENT_DEPTH_MAX)?;
        Some(Record::Event(self.project(project).ok()?, event.dated(self.clock.now()).ok()?))
    }

    fn event(&self, mut members: JsonObject) -> Result<Record, Error> {
        let project = take_member(&mut members, "projectId").unwrap_or_default();
        let project = self.project(from_value(project)?)?;
        let event: EventInput = from_value(Value::Object(members))?;
        Ok(Record::Event(project, event.dated(self.clock.now())?))
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
                chain: self.shared().chain(Some(&contract.chain_id))?,
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
