//! The demo on a chain: contracts are deployed on a development chain, and people trade there through the service, which follows
//! it. What is sent is written down before it is sent (`journal`), so that an interrupted start goes on where it was.

mod contracts;
mod greeting;
mod guard;
mod journal;
mod rlp;
mod scene;
mod sender;
mod setting_up;
mod trading;
mod wallet;

use std::collections::HashSet;

use alloy_primitives::U256;
use bourse_server::settings::Settings;
use bourse_store::{CollectionKey, ProjectFollow, ProjectScope};
use bourse_wire::ChainId;
use secrecy::SecretString;

use super::projects;
use crate::cli::{Common, Demo};
use crate::commands::{key, project, serve, token};
use crate::context::{CommandError, Context, load_settings, load_settings_with};
use crate::import::{Pending, Reader};
use crate::output;
use crate::progress::Progress;
use contracts::Contracts;
use greeting::Seen;
use journal::{Credentials, Journal, Record, Sent, Turn};
use scene::{PEOPLE, STUDIO};
use sender::{Sender, Sending};
use setting_up::{FUNDS_MILLI, milli};
use trading::Market;
use wallet::Wallet;

/// What the chain is called where it has no name.
const NETWORK: &str = "development";
/// How often the chain is asked for the next block, in milliseconds, where the settings say nothing of it.
const POLL_MS: &str = "500";
/// What the studio needs for transactions of its own, in thousandths of the chain's own coin.
const STUDIO_MILLI: u64 = 500;

/// Sets everything up on the chain of a node, serves it, and has people trade.
pub(super) async fn run(
    common: &Common,
    arguments: &Demo,
    url: &str,
    key: Option<SecretString>,
) -> Result<(), CommandError> {
    let settings = load_settings(common, &arguments.listen)?.settings;
    serve::start_logging(&settings)?;
    let sender = Sender::open(url).await?;
    let is_for_development = guard::check(&sender, arguments.not_a_development_chain).await?;
    let cast = Cast { key: key.as_ref(), is_for_development };
    let mut stage = Stage::open(sender, &settings, cast).await?;
    stage.set_up().await?;
    let contracts = stage.contracts()?;
    let settings = load_settings_with(common, &arguments.listen, stage.settings(url, &settings, &contracts))?;
    let settings = settings.settings;
    stage.journal.record.api_url = settings.public_url();
    let project = stage.tell(&settings, &contracts).await?;
    let opened = serve::open(settings).await?;
    let app = opened.app();
    let wallets = stage.wallets.clone();
    let market = Market::new(&app, stage.sender.chain, &project, contracts, wallets);
    serve::serve_beside(opened, async move {
        stage.trade(&market).await?;
        let seen = Seen::of(&market, &contracts).await?;
        let record = &stage.journal.record;
        let buyer = stage.wallets[PEOPLE].address;
        output::print(false, &serde_json::Value::Null, || {
            greeting::text(record, &project, &contracts, buyer, &seen)
        })
    })
    .await
}

/// The chain, those who send, and how far it all is.
struct Stage {
    sender: Sender,
    /// The studio, then the people.
    wallets: Vec<Wallet>,
    journal: Journal,
    _turn: Turn,
}

/// Where those who send come from.
struct Cast<'a> {
    key: Option<&'a SecretString>,
    is_for_development: bool,
}

impl Stage {
    /// Finds out who sends, and takes up what an earlier start left.
    async fn open(sender: Sender, settings: &Settings, cast: Cast<'_>) -> Result<Self, CommandError> {
        let genesis = sender.genesis().await?;
        let wallets = cast.wallets(&sender, genesis.as_bytes()).await?;
        bourse_server::make_private_directory(&settings.storage.data)
            .map_err(CommandError::io("making the data directory"))?;
        let turn = Turn::take(&settings.storage.data)?;
        let journal = if let Some(journal) = Journal::read(&settings.storage.data)? {
            same_chain(&sender, &journal.record, &genesis, settings).await?;
            same_studio(&journal.record, &wallets[STUDIO])?;
            journal
        } else {
            let record = Record {
                api_url: String::new(),
                network: network(settings, sender.chain),
                chain_id: sender.chain,
                genesis,
                from_block: sender.head().await?,
                studio: wallets[STUDIO].address,
                project: None,
                contracts: Vec::new(),
                done: 0,
                under_way: None,
            };
            Journal::new(&settings.storage.data, record)
        };
        let stage = Self { sender, wallets, journal, _turn: turn };
        stage.check_money().await?;
        Ok(stage)
    }

    /// Refuses to begin what the studio cannot pay for.
    async fn check_money(&self) -> Result<(), CommandError> {
        if !self.journal.record.contracts.is_empty() {
            return Ok(());
        }
        let poor = self.wallets[1..].iter().filter(|wallet| wallet.signs_here()).count();
        let needed = milli(FUNDS_MILLI * u64::try_from(poor).unwrap_or(0) + STUDIO_MILLI);
        let studio = self.wallets[STUDIO].address;
        let has = self.sender.balance(studio).await?;
        if has >= needed {
            return Ok(());
        }
        let coins = |amount: U256| (amount / milli(1)).saturating_to::<u128>();
        Err(CommandError::Other(format!(
            "{studio} has {} thousandths of the chain's coin, and the demo needs {}: give it more, or name another account",
            coins(has),
            coins(needed)
        )))
    }

    /// Deploys what is missing, and mints.
    async fn set_up(&mut self) -> Result<(), CommandError> {
        self.look_back().await?;
        let mut progress = Progress::start("setting up the chain", None);
        let studio = self.wallets[STUDIO].clone();
        while let Some(creation) = contracts::creation(&self.journal.record.contracts, studio.address)? {
            self.send(STUDIO, &creation, true).await?;
            let made = self.journal.record.contracts.len();
            progress.at(made as u64, || format!("{made} of {} contracts", contracts::COUNT));
        }
        let calls = setting_up::calls(&self.contracts()?, &self.wallets);
        let first = self.journal.record.done.min(calls.len());
        for (number, (who, sending)) in calls.iter().enumerate().skip(first) {
            self.send(*who, sending, true).await?;
            progress.at(number as u64, || format!("{number} of {} transactions", calls.len()));
        }
        Ok(())
    }

    /// Does what is left of the deals.
    async fn trade(&mut self, market: &Market) -> Result<(), CommandError> {
        let before = setting_up::calls(&self.contracts()?, &self.wallets).len();
        let deals = scene::deals();
        let first = self.journal.record.done.saturating_sub(before);
        market.wait_followed().await?;
        let mut progress = Progress::start("people trade", Some(deals.len() as u64));
        for (number, deal) in deals.iter().enumerate().skip(first) {
            market.wait_offers(deal.who(), &deals[..number]).await?;
            let steps = market.steps(deal).await?;
            for (place, step) in steps.iter().enumerate() {
                self.send(deal.who(), step, place + 1 == steps.len()).await?;
            }
            progress.at(number as u64, || format!("{number} of {} deals", deals.len()));
        }
        match deals.last() {
            Some(last) => market.wait_seen(last).await,
            None => Ok(()),
        }
    }

    /// Finds out what became of a transaction that an interrupted start may have sent.
    async fn look_back(&mut self) -> Result<(), CommandError> {
        match &self.journal.record.under_way {
            Some(sent) => {
                let is_done = self.sender.was_done(sent).await?;
                self.journal.end(is_done)
            }
            None => Ok(()),
        }
    }

    /// Sends something and waits until the chain has carried it out.
    async fn send(&mut self, who: usize, what: &Sending, ends: bool) -> Result<(), CommandError> {
        let wallet = &self.wallets[who];
        let nonce = self.sender.nonce(wallet.address).await?;
        let prepared = self.sender.prepare(wallet, nonce, what).await?;
        let (from, makes_contract, known) = (wallet.address, what.to.is_none(), prepared.hash());
        self.journal.begin(Sent { from, nonce, hash: known.clone(), makes_contract, ends })?;
        let hash = self.sender.send(&prepared).await?;
        if known.is_none() {
            self.journal.is_known_as(&hash)?;
        }
        let is_done = self.sender.wait(&hash).await?;
        self.journal.end(is_done)?;
        if is_done {
            return Ok(());
        }
        Err(CommandError::Other(format!(
            "the chain did not carry out transaction {nonce} of {}",
            wallet.address
        )))
    }

    fn contracts(&self) -> Result<Contracts, CommandError> {
        let missing = || CommandError::Other("contracts of the demo are missing".to_owned());
        Contracts::of(&self.journal.record.contracts).ok_or_else(missing)
    }

    /// What the settings say of the chain, beside what the operator set.
    fn settings(&self, url: &str, settings: &Settings, contracts: &Contracts) -> Vec<(String, String)> {
        let name = &self.journal.record.network;
        let mut set = vec![
            ("id", self.sender.chain.to_string()),
            ("rpc_url", url.to_owned()),
            ("own_v1", contracts.market_v1.to_string()),
            ("own_v2", contracts.market_v2.to_string()),
            ("batch_helper", contracts.batch_helper.to_string()),
            ("sales", contracts.sale.to_string()),
        ];
        if settings.networks.get(self.sender.chain).is_none_or(|known| !known.configured) {
            set.push(("poll_ms", POLL_MS.to_owned()));
        }
        set.into_iter().map(|(key, value)| (format!("networks.{name}.{key}"), value)).collect()
    }

    /// Tells the service of the project, its collections and their currencies. Told again, nothing changes.
    async fn tell(
        &mut self,
        settings: &Settings,
        contracts: &Contracts,
    ) -> Result<Credentials, CommandError> {
        let context = Context::with(settings.clone()).await?;
        let credentials = self.project(&context).await?;
        let reader = Reader::new(settings, HashSet::from([credentials.project_id]), context.clock.clone());
        let mut pending = Pending::default();
        for line in setting_up::told(contracts, self.sender.chain) {
            // Records of the demo are small.
            pending.add(reader.record(line)?, 0);
        }
        pending.commit(&context.store, &context.counting_house(), context.clock.now()).await?;
        let scope = ProjectScope::of_operator(credentials.project_id);
        for address in [contracts.relics, contracts.provisions] {
            let key = CollectionKey { chain: ChainId(self.sender.chain), address };
            let follow = ProjectFollow { key, from: self.journal.record.from_block, most: None };
            context.store.follow_for(scope, follow, context.actor()).await?;
        }
        let shop = setting_up::shop(contracts, self.sender.chain, &credentials.access_key);
        projects::open_shop(&context, scope, shop).await?;
        context.store.close().await;
        Ok(credentials)
    }

    /// The demo's project, which is made when there is none yet.
    async fn project(&mut self, context: &Context) -> Result<Credentials, CommandError> {
        let known = context.store.projects().await?;
        let found = projects::own(&known, projects::ON_CHAIN, context)?;
        let noted = self.journal.record.project.clone();
        if let Some(noted) = noted.filter(|noted| found.is_some_and(|found| found.id == noted.project_id)) {
            self.journal.write()?;
            return Ok(noted);
        }
        let made = match found {
            None => project::create(context, projects::ON_CHAIN, key::unlimited("default")).await?,
            Some(found) => {
                let scope = ProjectScope::of_operator(found.id);
                let (access_key, _) = key::create(context, scope, key::unlimited("default")).await?;
                let (secret_token, _) = token::create(context, scope, "default", None).await?;
                project::CreatedProject { project: found.clone(), access_key, secret_token }
            }
        };
        let credentials = Credentials {
            project_id: made.project.id,
            access_key: made.access_key,
            secret_token: made.secret_token,
        };
        self.journal.record.project = Some(credentials.clone());
        self.journal.write()?;
        Ok(credentials)
    }
}

impl Cast<'_> {
    /// The studio and the people: the account whose key was given, or accounts that the node signs for, and wallets of which nobody
    /// else has heard where these are too few.
    async fn wallets(&self, sender: &Sender, public: &[u8]) -> Result<Vec<Wallet>, CommandError> {
        let mut wallets = if let Some(key) = self.key {
            vec![Wallet::of_secret(key)?]
        } else {
            let accounts: Vec<bourse_wire::Address> =
                sender.ask("eth_accounts", serde_json::json!([])).await.unwrap_or_default();
            accounts.into_iter().take(PEOPLE + 1).map(Wallet::of_node).collect()
        };
        let studio = wallets.first().cloned().ok_or_else(|| key_needed("no account"))?;
        // Their keys would follow from what everybody may know, and they are given money.
        if self.key.is_none() && !self.is_for_development && wallets.len() <= PEOPLE {
            return Err(key_needed("too few accounts"));
        }
        let unlucky = || CommandError::Other("no wallet follows from that key: give another".to_owned());
        while wallets.len() <= PEOPLE {
            let number = wallets.len() as u64;
            wallets.push(studio.relative(number, public).ok_or_else(unlucky)?);
        }
        Ok(wallets)
    }
}

fn key_needed(accounts: &str) -> CommandError {
    CommandError::Other(format!(
        "the node signs for {accounts} of its own: put the private key of an account with money on this chain into the variable \
        BOURSE_DEMO_KEY, or into a file that --key-file names. It is not stored"
    ))
}

/// What the chain is called.
fn network(settings: &Settings, chain: u64) -> String {
    settings.networks.get(chain).map_or_else(|| NETWORK.to_owned(), |network| network.name.clone())
}

/// Refuses a chain that is another one than that of an earlier start, or the same begun anew.
async fn same_chain(
    sender: &Sender,
    record: &Record,
    genesis: &str,
    settings: &Settings,
) -> Result<(), CommandError> {
    let is_known = record.chain_id == sender.chain && record.genesis == genesis;
    let is_there = match record.contracts.first() {
        Some(contract) if is_known => sender.has_code(*contract).await?,
        _ => is_known,
    };
    if is_there {
        return Ok(());
    }
    Err(CommandError::Other(format!(
        "{} holds the demo of another chain, or of this one before it was begun anew: its contracts are not there. Give this \
        chain a directory of its own with --data DIR, or delete that one",
        settings.storage.data.display()
    )))
}

/// Refuses another account than that of an earlier start: what the people have is theirs by their keys.
fn same_studio(record: &Record, studio: &Wallet) -> Result<(), CommandError> {
    if record.studio == studio.address {
        return Ok(());
    }
    Err(CommandError::Other(format!(
        "the demo was begun with account {}, and this is {}: name the same account, or another directory with --data DIR",
        record.studio, studio.address
    )))
}
