//! What is there before anybody trades: contracts, money, tokens, and the terms of a sale.

use std::ops::RangeInclusive;

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::contracts::{self, CURRENCY_DECIMALS, Contracts, abi};
use super::scene::{self, ON_SALE, PEOPLE, PROVISIONS, RELICS, STUDIO};
use super::sender::Sending;
use super::wallet::Wallet;
use crate::demo::data;

/// What each of the people gets of the chain's own coin where the node has no account for them, in thousandths.
pub(super) const FUNDS_MILLI: u64 = 600;
/// What each gets of the demo's currency.
const CROWNS: u64 = 10_000;
/// Shares of prices for the studio, in basis points.
const ROYALTIES: [u64; 2] = [500, 250];
/// What a token of the sale costs, in thousandths of the chain's own coin, and how many there are of each.
pub(super) const SALE_MILLI: u64 = 10;
const SALE_SUPPLY: u64 = 50;
/// When the sale ends: in the next century.
const SALE_ENDS: u64 = 4_102_444_800;

/// Thousandths of the chain's own coin in its smallest unit.
pub(super) fn milli(count: u64) -> U256 {
    U256::from(count) * U256::from(10_u64.pow(15))
}

/// What is called after the contracts are there, and by whom, in an order in which each finds what it needs.
pub(super) fn calls(contracts: &Contracts, wallets: &[Wallet]) -> Vec<(usize, Sending)> {
    let people = 1..=PEOPLE;
    let mut calls = royalties(contracts, wallets[STUDIO].address);
    calls.extend(money(contracts, wallets, people.clone()));
    calls.extend(relics(contracts, wallets));
    calls.extend(provisions(contracts, wallets, people));
    calls.extend(sale(contracts));
    calls.into_iter().map(|sending| (STUDIO, sending)).collect()
}

fn call(to: Address, call: &impl SolCall) -> Sending {
    Sending { to: Some(to), data: call.abi_encode(), value: U256::ZERO }
}

fn royalties(contracts: &Contracts, studio: Address) -> Vec<Sending> {
    let both = [contracts.relics, contracts.provisions].into_iter().zip(ROYALTIES);
    let set = both.map(|(collection, share)| {
        let fee = alloy_primitives::Uint::from(share);
        call(collection, &contracts::setDefaultRoyaltyCall { recipient: abi(studio), fee })
    });
    set.collect()
}

fn money(contracts: &Contracts, wallets: &[Wallet], people: RangeInclusive<usize>) -> Vec<Sending> {
    let amount = U256::from(CROWNS) * U256::from(10_u64.pow(CURRENCY_DECIMALS.into()));
    let mut sent = Vec::new();
    for person in people {
        let to = wallets[person].address;
        if wallets[person].signs_here() {
            sent.push(Sending { to: Some(to), data: Vec::new(), value: milli(FUNDS_MILLI) });
        }
        sent.push(call(contracts.currency, &contracts::mintCall { to: abi(to), amount }));
    }
    sent
}

fn relics(contracts: &Contracts, wallets: &[Wallet]) -> Vec<Sending> {
    let minted = (1..=RELICS).flat_map(|token| {
        let uri = data::relic_link(token);
        let to = abi(wallets[scene::holder(token)].address);
        let token = U256::from(token);
        [
            call(contracts.relics, &contracts::setTokenURICall { tokenId: token, uri }),
            call(contracts.relics, &contracts::mintCall { to, amount: token }),
        ]
    });
    minted.collect()
}

fn provisions(contracts: &Contracts, wallets: &[Wallet], people: RangeInclusive<usize>) -> Vec<Sending> {
    let stacks = scene::stacks();
    let minted = people.map(|person| {
        let own = stacks.iter().filter(|(owner, _)| *owner == person);
        let (ids, amounts) = own.map(|(_, item)| (U256::from(item.token), U256::from(item.units))).unzip();
        let to = abi(wallets[person].address);
        call(contracts.provisions, &contracts::Stacks::mintBatchCall { to, tokenIds: ids, amounts })
    });
    minted.collect()
}

fn sale(contracts: &Contracts) -> Vec<Sending> {
    let terms = ON_SALE.map(|token| contracts::setTokenSaleDetailsCall {
        tokenId: U256::from(token),
        cost: milli(SALE_MILLI),
        remainingSupply: U256::from(SALE_SUPPLY),
        startTime: 0,
        endTime: SALE_ENDS,
        merkleRoot: B256::ZERO,
    });
    terms.map(|terms| call(contracts.sale, &terms)).collect()
}

/// What is told to the service, as no contract says it: prices of currencies, and the second collection's tokens, which have no
/// link of their own.
pub(super) fn told(contracts: &Contracts, chain: u64) -> Vec<Value> {
    let currency = |address: Address, name: &str, symbol: &str, decimals: u8, rate: &str| {
        json!({ "type": "currency", "chainId": chain, "contractAddress": address, "name": name, "symbol": symbol,
            "decimals": decimals, "exchangeRate": rate })
    };
    let mut told = vec![
        currency(Address::ZERO, "Ether", "ETH", 18, "2500"),
        currency(contracts.currency, "Harbour Crown", "CROWN", CURRENCY_DECIMALS, "1"),
    ];
    let tokens = (1..=PROVISIONS).chain(ON_SALE);
    told.extend(tokens.map(|token| data::provision_of(token, chain, &contracts.provisions.to_string())));
    told
}

/// The shop of the demo's project, with its sale.
pub(super) fn shop(contracts: &Contracts, chain: u64, access_key: &str) -> Value {
    json!({
        "settings": { "title": "Harbour market", "accessKey": access_key },
        "site": { "enabled": true, "description": data::SHOP_DESCRIPTION },
        "shop": { "enabled": true },
        "shopCollections": [{ "chainId": chain, "itemsAddress": contracts.provisions, "saleAddress": contracts.sale,
            "name": "Fresh provisions", "tokenIds": ON_SALE.map(|token| token.to_string()).collect::<Vec<_>>() }],
    })
}
