//! Marketplaces on which the demo's orders stand.

use serde_json::{Value, json};

use super::DemoContext;
use super::rarity::Rarity;

/// Royalties of both collections go here.
const ROYALTY_RECIPIENT: &str = "0x6f20c8b5e91d4a07f3385ce2bd17940a6cf1e58d";

/// One marketplace.
pub(super) struct Venue {
    /// Its enum word.
    pub(super) word: String,
    /// Its name for people.
    pub(super) origin_name: &'static str,
    /// Whether it is one of ours: its order ids are request numbers, not hashes.
    pub(super) own: bool,
    /// Whether it trades ERC-721 only.
    pub(super) relics_only: bool,
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
}

/// All marketplaces with their share of the orders.
pub(super) fn all(context: &DemoContext) -> Vec<(Venue, u64)> {
    let own = |word: &String, fee_bps| Venue {
        word: word.clone(),
        origin_name: "Bourse",
        own: true,
        relics_only: false,
        fee_bps,
        fee_recipient: "0x18ad7350be2c94f60d1b8ee735af02c96d40b7e1",
    };
    let other = |(word, origin_name, fee_bps, fee_recipient): (&str, _, _, _), relics_only| Venue {
        word: word.to_owned(),
        origin_name,
        own: false,
        relics_only,
        fee_bps,
        fee_recipient,
    };
    vec![
        (own(&context.own_marketplace_v2, 100), 44),
        (own(&context.own_marketplace_v1, 0), 12),
        (other(("opensea", "OpenSea", 250, "0xa25c07e91fd3b86440d7e1c5b90f2836ea71d4b0"), false), 17),
        (other(("magic_eden", "Magic Eden", 200, "0xc7e015b8d96a43f20e81cd375fa9b604d812e93b"), false), 10),
        (other(("blur", "Blur", 50, "0x40d7f3a61e8c952bb7054fde9c1a83672d0eb5f4"), true), 8),
        (other(("looks_rare", "LooksRare", 200, "0xf19b6c04d72ea8533c60be149d85f7a20e31c7d8"), true), 4),
        (other(("payment_processor", "Payment Processor", 0, ""), false), 3),
        (other(("mintify", "Mintify", 100, "0x2be81f5c70d3a946e05f7cb19a48d63e91b70cd5"), false), 2),
    ]
}

fn royalty_bps(rarity: Rarity) -> u64 {
    if rarity == Rarity::Mythic { 750 } else { 500 }
}
