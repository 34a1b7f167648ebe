//! What happens next, drawn from the seed: mostly what people do, mostly to what is there, and some of everything.

use bourse_wire::Address;

use super::Trader;
use super::deed::{Deed, Wish};
use super::orders::{Order, Ours};
use super::rules::Skill;

const COIN: u64 = 1_000_000;
/// Shares of the price, in basis points, that collections ask for; none is asked for most often.
const ROYALTIES: [u64; 8] = [0, 0, 250, 333, 500, 750, 1_000, 1_000];

type Draw = fn(&mut Trader) -> Option<Deed>;

/// What may happen, and how often among all.
const DEEDS: [(u64, Draw); 19] = [
    (17, |trader| Some(Deed::List(trader.wish(true)))),
    (16, |trader| Some(Deed::Offer(trader.wish(false)))),
    (18, Trader::buy),
    (12, Trader::sell),
    (5, Trader::cancel),
    (2, |trader| Some(trader.end_all())),
    (4, |trader| Some(trader.approve())),
    (2, |trader| Some(trader.approve_one())),
    (3, |trader| Some(trader.allow())),
    (5, Trader::give),
    (3, Trader::pay),
    (3, |trader| Some(trader.fund())),
    (2, Trader::mint),
    (1, Trader::burn),
    (2, |trader| Some(trader.royalty())),
    (2, |trader| Some(trader.marketplace())),
    (2, |_| Some(Deed::Expire)),
    (4, |trader| Some(Deed::Reorganise { depth: trader.depth() })),
    (1, |trader| Some(Deed::Restart { depth: trader.depth() - 1 })),
];

impl Trader {
    /// What happens next.
    pub(super) fn draw(&mut self) -> Deed {
        let weights = DEEDS.map(|(weight, _)| weight);
        loop {
            let (_, draw) = DEEDS[self.random.weighted(&weights)];
            if let Some(deed) = draw(self) {
                return deed;
            }
        }
    }

    /// Somebody; the first does most.
    fn somebody(&mut self) -> Address {
        let place = self.random.weighted(&[4, 2, 1, 1]);
        self.scene.traders[place]
    }

    fn currency(&mut self, is_native: bool) -> Address {
        let place = self.random.weighted(&[3, 2, if is_native { 3 } else { 0 }]);
        [self.scene.coin, self.scene.tether, Address::ZERO][place]
    }

    fn collection(&mut self) -> Address {
        *self.random.pick(&[self.scene.singles, self.scene.multiples])
    }

    /// A token of a collection; the first ones most often.
    fn token(&mut self, collection: Address) -> u64 {
        let known: Vec<u64> =
            self.tokens().filter(|known| known.0 == collection).map(|known| known.1).collect();
        if self.random.range(0..2) == 0 { known[0] } else { *self.random.pick(&known) }
    }

    /// How many blocks are replaced: mostly few.
    fn depth(&mut self) -> u64 {
        *self.random.pick(&[1, 1, 1, 2, 2, 3, 5, 9])
    }

    /// What somebody has, if anybody has anything.
    fn holding(&mut self) -> Option<(Address, Address, u64, u64)> {
        let who = self.somebody();
        let held = self.held.iter().filter(|(held, units)| held.0 == who && **units > 0);
        let held: Vec<_> =
            held.map(|((who, collection, token), units)| (*who, *collection, *token, *units)).collect();
        self.random.one_of(&held)
    }

    /// An order that somebody wants to make: mostly one that they can.
    fn wish(&mut self, is_listing: bool) -> Wish {
        let drawn = self.holding().filter(|_| is_listing && self.random.range(0..12) != 0);
        let (who, collection, token, units) = drawn.unwrap_or_else(|| {
            let (who, collection) = (self.somebody(), self.collection());
            (who, collection, self.token(collection), 4)
        });
        let is_many = self.scene.is_many(collection);
        let is_any = !is_listing && self.can(Skill::Any) && self.random.range(0..4) == 0;
        let price = match self.random.range(0..3) {
            0 => self.random.range(1..30),
            1 => self.random.range(1_000..COIN),
            _ => self.random.range(1..20) * COIN,
        };
        let is_whole = is_many && self.can(Skill::Whole) && self.random.range(0..2) == 0;
        Wish {
            who,
            collection,
            token: (!is_any).then_some(token),
            units: if is_many { self.random.range(1..units + 2) } else { 1 },
            is_whole,
            currency: self.currency(is_listing && self.can(Skill::Native)),
            price,
            seconds: (self.random.range(0..6) == 0).then(|| self.random.range(6..12)),
        }
    }

    /// The orders of a side: mostly those that can be filled.
    fn orders_of(&mut self, is_listing: bool) -> Vec<(Order, Ours)> {
        let wants_active = self.random.range(0..10) != 0;
        let known = self.orders.iter().filter(|order| order.is_listing == is_listing);
        let known = known.filter_map(|order| Some((order, self.seen.get(&order.id)?)));
        let known = known.filter(|(_, ours)| !wants_active || ours.is_active());
        known.map(|(order, ours)| (order.clone(), ours.clone())).collect()
    }

    /// How much of an order somebody takes: all, some, or more than there is.
    fn units(&mut self, ours: &Ours) -> u64 {
        match self.random.range(0..8) {
            0 => ours.available + 1,
            1..4 => self.random.range(1..ours.available.max(1) + 1),
            _ => ours.available.max(1),
        }
    }

    /// What somebody else gets of a trade: mostly nothing, some basis points, or an amount.
    fn fees(&mut self) -> Vec<u64> {
        // Where there is no such thing, somebody wants it now and then.
        let most = if self.can(Skill::Fees) { 10 } else { 60 };
        match self.random.range(0..most) {
            0 => vec![self.random.range(1..500)],
            1 => vec![self.random.range(10_001..20_000), 100],
            _ => Vec::new(),
        }
    }

    fn buy(&mut self) -> Option<Deed> {
        let listings = self.orders_of(true);
        let first = self.random.one_of(&listings)?;
        let (collection, currency) = (first.0.collection, first.0.currency);
        let with_it = listings.iter().filter(|(other, _)| {
            (other.collection, other.currency) == (collection, currency) && other.id != first.0.id
        });
        let with_it: Vec<_> = with_it.cloned().collect();
        let several = if self.random.range(0..3) == 0 { self.random.range(1..3) } else { 0 };
        let more = (0..several).filter_map(|_| self.random.one_of(&with_it));
        let chosen: Vec<_> = std::iter::once(first).chain(more).collect();
        let picks = chosen.iter().map(|(order, ours)| (order.id.clone(), self.units(ours))).collect();
        let who = self.taker(&chosen[0].0);
        Some(Deed::Buy { who, picks, fees: self.fees() })
    }

    /// Somebody who takes an order: hardly ever its maker.
    fn taker(&mut self, order: &Order) -> Address {
        let others: Vec<Address> = self.scene.traders.into_iter().filter(|who| *who != order.maker).collect();
        if self.random.range(0..20) == 0 { order.maker } else { *self.random.pick(&others) }
    }

    fn sell(&mut self) -> Option<Deed> {
        let offers = self.orders_of(false);
        let (offer, ours) = self.random.one_of(&offers)?;
        let token = offer.token.unwrap_or_else(|| self.token(offer.collection));
        let holders: Vec<Address> = self
            .scene
            .traders
            .into_iter()
            .filter(|who| {
                *who != offer.maker
                    && self.held.get(&(*who, offer.collection, token)).is_some_and(|held| *held > 0)
            })
            .collect();
        let who = if holders.is_empty() { self.taker(&offer) } else { *self.random.pick(&holders) };
        let pick = (offer.id.clone(), self.units(&ours));
        Some(Deed::Sell { who, pick, token, fees: self.fees() })
    }

    fn cancel(&mut self) -> Option<Deed> {
        let is_listing = self.random.range(0..2) == 0;
        let orders = self.orders_of(is_listing);
        let (order, _) = self.random.one_of(&orders)?;
        Some(Deed::Cancel { id: order.id })
    }

    fn end_all(&mut self) -> Deed {
        let (who, collection) = (self.somebody(), self.collection());
        Deed::EndAll { who, collection: (self.random.range(0..2) == 0).then_some(collection) }
    }

    fn approve(&mut self) -> Deed {
        let (who, collection) = (self.somebody(), self.collection());
        Deed::Approve { who, collection, is_approved: self.random.range(0..3) == 0 }
    }

    fn approve_one(&mut self) -> Deed {
        let token = self.token(self.scene.singles);
        Deed::ApproveOne { token, is_approved: self.random.range(0..3) != 0 }
    }

    fn allow(&mut self) -> Deed {
        let (who, currency) = (self.somebody(), self.currency(false));
        let amount = *self.random.pick(&[0, 0, 1, 7, COIN + 1, 30 * COIN, 500 * COIN]);
        Deed::Allow { who, currency, amount }
    }

    fn give(&mut self) -> Option<Deed> {
        let (from, collection, token, units) = self.holding()?;
        let to = *self.random.pick(&self.scene.traders);
        Some(Deed::Give { from, to, collection, token, units: self.random.range(1..units + 1) })
    }

    /// All that somebody has of a currency, or nearly all.
    fn pay(&mut self) -> Option<Deed> {
        let (from, to, currency) = (self.somebody(), self.somebody(), self.currency(false));
        let held = self.money(currency, from);
        let left = *self.random.pick(&[0, 1, 5, COIN, 21 * COIN]);
        (held > left).then(|| Deed::Pay { from, to, currency, amount: held - left })
    }

    fn fund(&mut self) -> Deed {
        let (who, currency) = (self.somebody(), self.currency(false));
        Deed::Fund { who, currency, amount: *self.random.pick(&[1, 17, 3 * COIN, 400 * COIN]) }
    }

    fn mint(&mut self) -> Option<Deed> {
        let (who, collection) = (self.somebody(), self.collection());
        if self.scene.is_many(collection) {
            let (token, units) = (self.token(collection), self.random.range(1..6));
            return Some(Deed::Mint { who, collection, token, units });
        }
        (self.singles < 20).then(|| Deed::Mint { who, collection, token: self.singles + 1, units: 1 })
    }

    fn burn(&mut self) -> Option<Deed> {
        let (who, collection, token, units) = self.holding()?;
        Some(Deed::Burn { who, collection, token, units: self.random.range(1..units.min(3) + 1) })
    }

    fn royalty(&mut self) -> Deed {
        let (collection, bps) = (self.collection(), *self.random.pick(&ROYALTIES));
        let token = self.token(collection);
        Deed::Royalty { collection, token: (self.random.range(0..2) == 0).then_some(token), bps }
    }

    /// What the marketplace or the collection decides by itself.
    fn marketplace(&mut self) -> Deed {
        let bps = *self.random.pick(&ROYALTIES);
        match self.random.range(0..3) {
            0 => Deed::Silence { is_silent: self.random.range(0..2) == 0 },
            1 => Deed::Fees { bps },
            _ => Deed::CustomRoyalty { recipient: self.scene.stage.market.artist(), bps },
        }
    }
}
