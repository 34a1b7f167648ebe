//! The order book: listings and offers on both own marketplaces and on others, whose open orders are signed.

use serde_json::{Value, json};

use super::clock::{DAY_SECONDS, timestamp};
use super::currencies::{self, CURRENCIES};
use super::holdings::{self, other_wallet};
use super::people::wallet;
use super::provision::{self, Provision};
use super::rarity::Rarity;
use super::relic::{self, Relic};
use super::rng::Rng;
use super::venues::{self, Venue};
use super::{CHAIN_ID, DemoContext, PROVISIONS_ADDRESS, RELICS_ADDRESS, signed};

/// Number of listings.
pub(super) const LISTINGS: u64 = 900;
/// Number of offers.
pub(super) const OFFERS: u64 = 500;
/// One listing in so many promises more than its maker holds.
pub(super) const STALE_EVERY: u64 = 75;

/// How orders end, or do not, with their shares.
const STATUSES: [(&str, u64); 5] =
    [("active", 800), ("filled", 75), ("cancelled", 55), ("expired", 50), ("inactive", 20)];

/// What an order is about.
pub(super) struct Target {
    pub(super) contract: &'static str,
    pub(super) token_id: String,
    pub(super) rarity: Rarity,
    price_micros: u64,
    holder: u64,
    held: u64,
}

impl Target {
    fn relic(number: u64) -> Self {
        let relic = Relic::new(number);
        Self {
            contract: RELICS_ADDRESS,
            token_id: relic.token_id,
            rarity: relic.rarity,
            price_micros: relic.rarity.relic_price_micros(),
            holder: holdings::relic_owner(number),
            held: 1,
        }
    }

    fn provision(number: u64, rng: &mut Rng) -> Self {
        let (holder, held) = rng.pick(&holdings::provision_holders(number));
        let rarity = Provision::new(number).rarity;
        Self {
            contract: PROVISIONS_ADDRESS,
            token_id: number.to_string(),
            rarity,
            price_micros: rarity.provision_price_micros(),
            holder,
            held,
        }
    }

    fn draw(rng: &mut Rng) -> Self {
        if rng.chance(12) {
            return Self::relic(rng.range(relic::FINDS + 1, relic::TOTAL));
        }
        if rng.chance(600) {
            return Self::relic(rng.range(1, relic::FINDS));
        }
        let number = rng.range(1, provision::TOTAL);
        // What is sold by weight is not sold here; its neighbour is never sold by weight.
        Self::provision(if Provision::new(number).by_weight() { number - 1 } else { number }, rng)
    }

    pub(super) fn is_relic(&self) -> bool {
        self.contract == RELICS_ADDRESS
    }
}

/// One order, before it becomes a record.
pub(super) struct Order<'a> {
    pub(super) number: u64,
    pub(super) side: &'static str,
    status: &'static str,
    pub(super) target: Target,
    pub(super) venue: &'a Venue,
    pub(super) maker: u64,
    pub(super) price_micros: u64,
    pub(super) currency: usize,
    pub(super) initial: u64,
    remaining: u64,
}

/// The import lines of all orders.
pub(super) fn records(context: &DemoContext) -> impl Iterator<Item = Value> + use<> {
    let venues = venues::all(context);
    let now = context.now_unix;
    (0..LISTINGS + OFFERS).filter_map(move |number| {
        let mut rng = Rng::keyed("order", number);
        let order = if number < LISTINGS {
            listing(number, &venues, &mut rng)
        } else {
            offer(number, &venues, &mut rng)
        };
        record(&order, now, &mut rng)
    })
}

fn listing<'a>(number: u64, venues: &'a [(Venue, u64)], rng: &mut Rng) -> Order<'a> {
    let target = Target::draw(rng);
    let stale = number % STALE_EVERY == 7;
    let status = if stale { "active" } else { draw_status(rng) };
    let sold = status == "filled";
    // A seller who sold everything, or who moved the relic elsewhere, is no longer its holder.
    let gone = target.is_relic() && (stale || sold);
    let maker = if gone { other_wallet(rng, target.holder) } else { target.holder };
    let most = if target.is_relic() { 1 } else { target.held };
    let initial =
        if stale && !target.is_relic() { target.held + rng.range(3, 30) } else { rng.range(1, most) };
    let remaining = if stale { initial } else { draw_remaining(status, initial, rng) };
    let venue = rng.weighted(venues);
    // Most ask about the usual price, some dream.
    let spread = if rng.chance(180) { rng.range(1500, 4200) } else { rng.range(800, 1500) };
    let price_micros = target.price_micros * spread / 1000;
    let currency = *rng.weighted(&[
        (currencies::NATIVE, if venue.takes_native { 24 } else { 0 }),
        (currencies::DOLLAR, 32),
        (currencies::WRAPPED, 12),
        (currencies::GAME, 24),
        (currencies::COMMUNITY, 8),
    ]);
    Order {
        number,
        side: "listing",
        status,
        target,
        venue,
        maker,
        price_micros,
        currency,
        initial,
        remaining,
    }
}

fn offer<'a>(number: u64, venues: &'a [(Venue, u64)], rng: &mut Rng) -> Order<'a> {
    let target = Target::draw(rng);
    let status = draw_status(rng);
    let maker = other_wallet(rng, target.holder);
    let initial = if target.is_relic() { 1 } else { rng.range(1, 20) };
    let remaining = draw_remaining(status, initial, rng);
    let venue = rng.weighted(venues);
    let price_micros = target.price_micros * rng.range(350, 880) / 1000;
    // The chain's own coin cannot be pulled from a wallet later, so nobody offers it.
    let currency = *rng.weighted(if venue.outside.is_none() {
        &[
            (currencies::DOLLAR, 40),
            (currencies::WRAPPED, 15),
            (currencies::GAME, 35),
            (currencies::COMMUNITY, 10),
        ]
    } else {
        &[
            (currencies::WRAPPED, 70),
            (currencies::DOLLAR, 30),
            (currencies::GAME, 0),
            (currencies::COMMUNITY, 0),
        ]
    });
    Order { number, side: "offer", status, target, venue, maker, price_micros, currency, initial, remaining }
}

fn draw_status(rng: &mut Rng) -> &'static str {
    let status: &&str = rng.weighted(&STATUSES);
    status
}

fn draw_remaining(status: &str, initial: u64, rng: &mut Rng) -> u64 {
    match status {
        "filled" => 0,
        _ if initial > 1 && rng.chance(350) => rng.range(1, initial - 1),
        _ => initial,
    }
}

fn record(order: &Order<'_>, now: u64, rng: &mut Rng) -> Option<Value> {
    let currency = &CURRENCIES[order.currency];
    // Two fifths of the book are from the last days, as in a market that is looked after.
    let created = now - rng.range(12 * DAY_SECONDS, 45 * DAY_SECONDS) / if rng.chance(400) { 8 } else { 1 };
    let valid_until = match order.status {
        "expired" => created + rng.below(now - created),
        _ if rng.chance(80) => now + rng.range(150, 365) * DAY_SECONDS,
        _ => now + rng.range(4 * DAY_SECONDS, 60 * DAY_SECONDS),
    };
    if order.venue.outside.is_some() && order.status == "active" {
        return signed::record(order, created, valid_until);
    }
    let untouched = order.status == "active" && order.initial == order.remaining;
    let updated = if untouched { created } else { created + rng.below(now - created) };
    let is_own = order.venue.outside.is_none();
    let order_id = if is_own { (order.number * 7 + 1043).to_string() } else { rng.hex(32) };
    Some(json!({
        "type": "order",
        "orderId": order_id,
        "marketplace": order.venue.word,
        "source": if is_own { &order.venue.word } else { "external" },
        "side": order.side,
        "status": order.status,
        "chainId": CHAIN_ID,
        "originName": order.venue.origin_name,
        "collectionContractAddress": order.target.contract,
        "tokenId": order.target.token_id,
        "createdBy": wallet(order.maker),
        "priceAmount": currencies::base_units(currency, order.price_micros).to_string(),
        "priceCurrencyAddress": currency.address,
        "priceDecimals": currency.decimals,
        "quantityInitial": order.initial.to_string(),
        "quantityRemaining": order.remaining.to_string(),
        "quantityDecimals": 0,
        "feeBps": order.venue.fee_bps(order.target.rarity),
        "feeBreakdown": order.venue.fee_breakdown(order.target.rarity),
        "validFrom": timestamp(created),
        "validUntil": timestamp(valid_until),
        // Two seconds per block, ending at a round number today.
        "blockNumber": 26_000_000 - (now - created) / 2,
        "orderCreatedAt": timestamp(created),
        "orderUpdatedAt": timestamp(updated),
        "createdAt": timestamp(created + rng.below(60)),
        "updatedAt": timestamp((updated + 60).min(now)),
    }))
}
