//! Marketplaces on which the demo's orders stand: those that can be bought from on its chain, as somebody buys what the
//! demo shows.

use std::sync::Arc;

use bourse_protocols::venues::Venue as Outside;
use bourse_protocols::{FeeSize, RequestedFee};
use bourse_wire::{ChainId, Marketplace};
use serde_json::{Value, json};

use super::rarity::Rarity;
use super::{CHAIN_ID, DemoContext};

/// Royalties of both collections go here.
const ROYALTY_RECIPIENT: &str = "0x6f20c8b5e91d4a07f3385ce2bd17940a6cf1e58d";

/// One marketplace.
pub(super) struct Venue {
    /// Its enum word.
    pub(super) word: String,
    /// Its name for people.
    pub(super) origin_name: &'static str,
    /// One of others, whose orders are signed; the order ids of our own are request numbers, not hashes.
    pub(super) outside: Option<Arc<Outside>>,
    /// Whether listings may ask for the chain's own coin.
    pub(super) takes_native: bool,
    fee_bps: u64,
    fee_recipient: &'static str,
}

impl Venue {
    /// Sum of all fees of an order here.
    pub(super) fn fee_bps(&self, rarity: Rarity) -> u64 {
        self.fee_bps + royalty_bps(rarity)
    }

    /// The fees of an order here, by recipient.
    pub(super) fn fee_breakdown(&self, rarity: Rarity) -> Vec<Value> {
        let royalty =
            json!({"kind": "royalty", "recipientAddress": ROYALTY_RECIPIENT, "bps": royalty_bps(rarity)});
        let mut fees = vec![royalty];
        if self.fee_bps > 0 {
            let fee =
                json!({"kind": "marketplace", "recipientAddress": self.fee_recipient, "bps": self.fee_bps});
            fees.push(fee);
        }
        fees
    }

    /// The same, as the maker of an order asks for them.
    pub(super) fn requested_fees(&self, rarity: Rarity) -> Vec<RequestedFee> {
        let fees = [(royalty_bps(rarity), ROYALTY_RECIPIENT), (self.fee_bps, self.fee_recipient)];
        let fee = |(bps, receiver): (u64, &str)| {
            Some(RequestedFee { size: FeeSize::Bps(bps), receiver: receiver.parse().ok()? })
        };
        fees.into_iter().filter_map(fee).collect()
    }
}

/// All marketplaces with their share of the orders.
pub(super) fn all(context: &DemoContext) -> Vec<(Venue, u64)> {
    let own = |word: &String, takes_native, fee_bps| Venue {
        word: word.clone(),
        origin_name: "Bourse",
        outside: None,
        takes_native,
        fee_bps,
        fee_recipient: "0x18ad7350be2c94f60d1b8ee735af02c96d40b7e1",
    };
    let other = |(marketplace, word, origin_name, fee_bps, fee_recipient): (Marketplace, &str, _, _, _)| {
        Some(Venue {
            word: word.to_owned(),
            origin_name,
            outside: Some(context.registry.venue(ChainId(CHAIN_ID), marketplace)?),
            takes_native: true,
            fee_bps,
            fee_recipient,
        })
    };
    let (opensea, magic_eden) = (
        (Marketplace::Opensea, "opensea", "OpenSea", 250, "0x0000a26b00c1f0df003000390027140000faa719"),
        (
            Marketplace::MagicEden,
            "magic_eden",
            "Magic Eden",
            200,
            "0xc7e015b8d96a43f20e81cd375fa9b604d812e93b",
        ),
    );
    let mut venues = vec![
        (own(&context.own_marketplace_v2, true, 100), 44),
        (own(&context.own_marketplace_v1, false, 0), 12),
    ];
    venues.extend(
        [(other(opensea), 27), (other(magic_eden), 17)]
            .into_iter()
            .filter_map(|(venue, share)| Some((venue?, share))),
    );
    venues
}

fn royalty_bps(rarity: Rarity) -> u64 {
    if rarity == Rarity::Mythic { 750 } else { 500 }
}
