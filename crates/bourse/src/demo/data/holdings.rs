//! Who owns what: 400 wallets, of which a few own much and most own little.

use serde_json::{Value, json};

use super::people::wallet;
use super::provision::Provision;
use super::relic::{self, Relic};
use super::rng::Rng;
use super::{CHAIN_ID, PROVISIONS_ADDRESS, RELICS_ADDRESS, provision};

/// Number of wallets in the demo.
pub(super) const WALLETS: u64 = 400;

/// A wallet, drawn so that low numbers come up far more often.
pub(super) fn draw_wallet(rng: &mut Rng) -> u64 {
    // Every halving of the range makes the wallets below it as likely again as those above.
    let range = WALLETS >> rng.below(6);
    rng.below(range)
}

/// Any wallet but one.
pub(super) fn other_wallet(rng: &mut Rng, wallet: u64) -> u64 {
    (wallet + 1 + rng.below(WALLETS - 1)) % WALLETS
}

/// The wallet that owns a relic.
pub(super) fn relic_owner(number: u64) -> u64 {
    draw_wallet(&mut Rng::keyed("relic owner", number))
}

/// Wallets that hold a provision, with their amounts; every kind has at least one holder.
pub(super) fn provision_holders(number: u64) -> Vec<(u64, u64)> {
    let mut rng = Rng::keyed("provision holders", number);
    let unit = if Provision::new(number).by_weight() { 100 } else { 1 };
    let count = rng.range(1, 6) + if rng.chance(150) { rng.range(5, 30) } else { 0 };
    let mut holders: Vec<(u64, u64)> = Vec::new();
    for _ in 0..count {
        let holder = draw_wallet(&mut rng);
        let amount = rng.range(1, 12) * if rng.chance(120) { rng.range(5, 40) } else { 1 };
        if holders.iter().all(|(known, _)| *known != holder) {
            holders.push((holder, amount * unit));
        }
    }
    holders
}

/// The import lines of all balances.
pub(super) fn balances() -> impl Iterator<Item = Value> {
    let relics = (1..=relic::TOTAL)
        .map(|number| balance(RELICS_ADDRESS, &Relic::new(number).token_id, relic_owner(number), 1));
    let provisions = (1..=provision::TOTAL).flat_map(|number| {
        provision_holders(number)
            .into_iter()
            .map(move |(holder, amount)| balance(PROVISIONS_ADDRESS, &number.to_string(), holder, amount))
    });
    relics.chain(provisions)
}

fn balance(contract: &str, token_id: &str, holder: u64, amount: u64) -> Value {
    json!({
        "type": "balance",
        "chainId": CHAIN_ID,
        "contractAddress": contract,
        "tokenId": token_id,
        "account": wallet(holder),
        "balance": amount.to_string(),
    })
}
