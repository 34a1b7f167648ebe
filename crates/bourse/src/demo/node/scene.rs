//! Who has what at first, and what happens then: the same for each seed, so that an interrupted start goes on where it was.

use bourse_random::Random;

/// People who trade, numbered from 1; the studio, which deploys and is paid royalties, is 0.
pub(super) const PEOPLE: usize = 6;
/// The studio among those who send.
pub(super) const STUDIO: usize = 0;
/// Tokens of the first collection.
pub(super) const RELICS: u64 = 24;
/// Tokens of the second collection that people have at first.
pub(super) const PROVISIONS: u64 = 8;
/// Tokens of the second collection that the sale mints.
pub(super) const ON_SALE: std::ops::RangeInclusive<u64> = 9..=12;
/// What everything drawn follows from.
const SEED: u64 = 21;
/// The lowest and about the highest price, in thousandths of the chain's own coin.
const PRICE_MILLI: u64 = 5;
const PRICE_MILLI_MAX: u64 = 70;

/// So many units of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) is_relic: bool,
    pub(super) token: u64,
    pub(super) units: u64,
}

/// A price of each unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    /// In the demo's currency rather than the chain's own coin.
    pub(super) in_crowns: bool,
    /// Thousandths of the chain's own coin, or as much in the currency.
    pub(super) milli: u64,
}

/// Something that people do, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deal {
    /// Offers tokens for sale, on the older of the two marketplaces or on the newer.
    List { who: usize, item: Item, price: Price, on_older: bool },
    /// Offers to buy a token.
    Offer { who: usize, item: Item, price: Price },
    /// Buys what somebody listed.
    Buy { who: usize, item: Item, seller: usize },
    /// Takes the offer that somebody made.
    Accept { who: usize, item: Item, maker: usize },
    /// Buys from the sale.
    Mint { who: usize, item: Item },
}

impl Deal {
    /// Who does it.
    pub(super) fn who(&self) -> usize {
        let (Self::List { who, .. }
        | Self::Offer { who, .. }
        | Self::Buy { who, .. }
        | Self::Accept { who, .. }
        | Self::Mint { who, .. }) = self;
        *who
    }
}

/// Somebody, by any number.
fn person(number: u64) -> usize {
    1 + usize::try_from(number).unwrap_or(0) % PEOPLE
}

/// Who has a relic at first.
pub(super) fn holder(relic: u64) -> usize {
    person(relic)
}

fn relic(token: u64) -> Item {
    Item { is_relic: true, token, units: 1 }
}

/// Who has how many of the second collection's tokens at first.
pub(super) fn stacks() -> Vec<(usize, Item)> {
    let mut random = Random::new(SEED);
    let mut stacks = Vec::new();
    for token in 1..=PROVISIONS {
        for step in [0, 2, 4] {
            let units = random.between(6, 16);
            stacks.push((person(token + step), Item { is_relic: false, token, units }));
        }
    }
    stacks
}

/// Most things are cheap and few are dear.
fn price(random: &mut Random, in_crowns: bool) -> Price {
    let mut milli = PRICE_MILLI;
    while milli < PRICE_MILLI_MAX && random.below(100) < 60 {
        milli = milli * 8 / 5;
    }
    Price { in_crowns, milli }
}

/// Everything that happens, in its order.
pub(super) fn deals() -> Vec<Deal> {
    let mut random = Random::new(SEED + 1);
    let mut deals = Vec::new();
    for token in (1..=RELICS).filter(|token| token % 4 != 0) {
        // The older marketplace knows no payment in the chain's own coin.
        let on_older = token % 5 == 0;
        let price = price(&mut random, on_older || token % 3 == 1);
        deals.push(Deal::List { who: holder(token), item: relic(token), price, on_older });
    }
    for (who, stack) in stacks() {
        let price = price(&mut random, stack.token % 4 == 0);
        let item = Item { units: stack.units.div_ceil(2), ..stack };
        deals.push(Deal::List { who, item, price, on_older: false });
    }
    // What is not listed, and some of what is.
    for token in (1..=RELICS).filter(|token| token % 4 < 2) {
        let price = price(&mut random, true);
        deals.push(Deal::Offer { who: person(token + 2), item: relic(token), price });
    }
    for token in (1..=RELICS).filter(|token| token % 4 == 3) {
        deals.push(Deal::Buy { who: person(token + 1), item: relic(token), seller: holder(token) });
    }
    for (seller, stack) in stacks().into_iter().step_by(5) {
        let item = Item { units: 2, ..stack };
        deals.push(Deal::Buy { who: 1 + seller % PEOPLE, item, seller });
    }
    for token in [4, 12, 20] {
        deals.push(Deal::Accept { who: holder(token), item: relic(token), maker: person(token + 2) });
    }
    for token in ON_SALE.step_by(2) {
        deals.push(Deal::Mint { who: person(token), item: Item { is_relic: false, token, units: 3 } });
    }
    deals
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn nobody_sells_what_they_do_not_have_or_to_themselves() {
        let mut listed = HashMap::new();
        let mut offered = HashSet::new();
        for deal in deals() {
            match deal {
                Deal::List { who, item, price, on_older } => {
                    assert!(price.in_crowns || !on_older, "{deal:?}");
                    let has = if item.is_relic {
                        holder(item.token) == who
                    } else {
                        stacks().iter().any(|(owner, stack)| {
                            (*owner, stack.token) == (who, item.token) && stack.units >= item.units
                        })
                    };
                    assert!(has, "{deal:?}");
                    let earlier = listed.insert((who, item.is_relic, item.token), item.units);
                    assert_eq!(earlier, None, "{deal:?}");
                }
                Deal::Offer { who, item, .. } => {
                    assert_ne!(holder(item.token), who, "{deal:?}");
                    offered.insert((who, item.token));
                }
                Deal::Buy { who, item, seller } => {
                    assert_ne!(who, seller);
                    assert!(listed[&(seller, item.is_relic, item.token)] >= item.units, "{deal:?}");
                }
                Deal::Accept { who, item, maker } => {
                    assert_eq!(who, holder(item.token), "{deal:?}");
                    assert!(offered.remove(&(maker, item.token)), "{deal:?}");
                }
                Deal::Mint { item, .. } => assert!(ON_SALE.contains(&item.token)),
            }
            assert!((1..=PEOPLE).contains(&deal.who()));
        }
        assert_eq!(deals(), deals());
    }
}
