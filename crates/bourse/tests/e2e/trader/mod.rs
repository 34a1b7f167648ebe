//! A random trader, at every marketplace that settles on a chain of the test's own.
//!
//! People list, offer, buy, sell and take back through the service, and do everything else that changes what orders are worth;
//! what happens follows from a seed. After each thing the marketplace's own contract and the service say the same of every order,
//! of those that are over now and then and whenever blocks were replaced. No step that the service told fails, and in the end a
//! server that knows nothing tells what the one tells that lived through it.
//! `BOURSE_TRADER_OPERATIONS` says how much happens, `BOURSE_TEST_SEED` repeats what failed.

mod compare;
mod cover;
mod deed;
mod deeds;
mod draw;
mod fresh;
mod looks_rare;
mod orders;
mod own;
mod rules;
mod scene;
mod seaport;
mod tally;
mod trades;
mod zerox;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use alloy_sol_types::sol;
use bourse_wire::Address;

use self::looks_rare::LooksRare;
use self::orders::{Order, Ours};
use self::own::{Own, Version};
use self::rules::{Rules, Skill};
use self::scene::{SINGLES, Scene};
use self::seaport::Seaport;
use self::tally::Tally;
use self::zerox::ZeroX;
use crate::anvil::{Anvil, alloy_address};
use crate::market::{self, Market};
use crate::random::Random;
use crate::venues::{self, Stage, Venue};

sol! {
    function updateCurrencyStatus(address currency, bool isAllowed);
}

/// What happens in a run that nobody asked to be longer.
const OPERATIONS: usize = 60;
/// Where such a run begins.
const SEED: u64 = 1;
/// Lists and holders are looked at after so many things.
const LISTS_INTERVAL: usize = 10;

/// People who trade, and what is known of it.
struct Trader {
    scene: Scene,
    rules: Box<dyn Rules>,
    random: Random,
    orders: Vec<Order>,
    /// What the service told at the last look.
    seen: BTreeMap<String, Ours>,
    /// The orders of which the service believes that they will be valid.
    ahead: BTreeSet<String>,
    /// The orders that were over at the last look.
    over: BTreeSet<String>,
    /// Who has how many units of which token of which collection.
    held: BTreeMap<(Address, Address, u64), u64>,
    /// How many single tokens were made.
    singles: u64,
    /// The first block whose logs were not read.
    logs_from: u64,
    tally: Tally,
}

impl Trader {
    fn new(what: &'static str, scene: Scene, rules: impl Rules + 'static, random: Random) -> Self {
        Self {
            scene,
            rules: Box::new(rules),
            random,
            orders: Vec::new(),
            seen: BTreeMap::new(),
            ahead: BTreeSet::new(),
            over: BTreeSet::new(),
            held: BTreeMap::new(),
            singles: SINGLES,
            logs_from: 0,
            tally: Tally::new(what),
        }
    }

    fn can(&self, skill: Skill) -> bool {
        self.rules.skills().contains(&skill)
    }

    fn run(mut self) {
        self.agree(true);
        for number in 1..=campaign().unwrap_or(OPERATIONS) {
            let deed = self.draw();
            self.tally.begin(&deed);
            let outcome = self.trade(&deed);
            self.tally.end(outcome);
            self.agree(deed.replaces_blocks());
            if number % LISTS_INTERVAL == 0 {
                self.agree_on_lists();
            }
        }
        self.agree_on_lists();
        self.compare_with_fresh();
        println!("{}", self.tally);
    }
}

/// How many things are to happen, if somebody asked for so many.
pub(crate) fn campaign() -> Option<usize> {
    std::env::var("BOURSE_TRADER_OPERATIONS").ok().map(|text| text.parse().unwrap())
}

/// A campaign begins from a seed that differs each time. What is tried with every change is the same walk each time, so that
/// whoever made the change is told what that broke, and nothing else.
fn drawn() -> Random {
    if campaign().is_some() { Random::new() } else { Random::or(SEED) }
}

/// Trades at one of our own marketplaces.
fn trade_at_own(what: &'static str, own: &market::Venue, version: Version) {
    let random = drawn();
    let market = Market::open_at(own, |anvil| {
        let helper = anvil.deploy("BatchPayableHelper", &[]);
        let helper =
            if version == Version::Second { format!("batch_helper = \"{helper}\"\n") } else { String::new() };
        let settings = market::node_setting(anvil);
        format!("{settings}royalties_interval_ms = 1000\n{helper}")
    });
    let (venue, contract) = (Venue::new(own.word, market.contract), market.contract);
    let scene = Scene::open(Stage { market, venues: Vec::new() }, venue, contract);
    Trader::new(what, scene, Own(version), random).run();
}

/// Trades at a marketplace of others: at one of those that are deployed.
fn trade_at(what: &'static str, deploy: fn(&Anvil) -> Vec<Venue>, rules: impl Rules + 'static) {
    let mut random = drawn();
    let stage = Stage::open(deploy);
    let venue = random.pick(&stage.venues).clone();
    let is_looks_rare = venue.word == "looks_rare";
    // It takes the money itself, and has another contract move tokens.
    let spender = if is_looks_rare { venue.contract } else { venue.mover };
    let scene = Scene::open(stage, venue, spender);
    if is_looks_rare {
        let anvil = &scene.stage.market.anvil;
        for currency in [Address::ZERO, scene.coin, scene.tether] {
            let allow = updateCurrencyStatusCall { currency: alloy_address(currency), isAllowed: true };
            anvil.send(anvil.account(0), scene.venue.contract, &allow);
        }
        scene.settle();
    }
    Trader::new(what, scene, rules, random).run();
}

/// Seconds since 1970, by the clock of the machine, which is the service's and the node's as well.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn at_the_first_version_of_our_own() {
    trade_at_own("own v1", &market::V1, Version::First);
}

#[test]
fn at_the_second_version_of_our_own() {
    trade_at_own("own v2", &market::V2, Version::Second);
}

#[test]
fn at_our_own_as_others_deployed_it() {
    trade_at_own("own v2, deployed", &market::DEPLOYED, Version::Deployed);
}

#[test]
fn at_seaport_or_one_of_its_forks() {
    trade_at("Seaport", venues::seaport::deploy, Seaport);
}

#[test]
fn at_looks_rare() {
    trade_at("LooksRare", venues::looks_rare::deploy, LooksRare);
}

#[test]
fn at_zerox() {
    trade_at("0x", venues::zerox::deploy, ZeroX);
}
