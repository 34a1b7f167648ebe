//! Random tokens, balances, orders and currencies, from few values so that much is equal.

use alloy_primitives::U256;
use bourse_catalog::Value;
use bourse_wire::{
    Address, Amount, ChainId, Currency, DatedRate, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus,
    Timestamp, TokenId,
};

use crate::model::Model;
use crate::token::{Property, Token, Values};
use bourse_random::Random;

pub(crate) const MARKETPLACES: [Marketplace; 4] =
    [Marketplace::OwnV2, Marketplace::Opensea, Marketplace::Blur, Marketplace::LooksRare];
const WORDS: [&str; 9] = ["Axe", "AXE", "Épée", "E\u{301}pe\u{301}e", "Straße", "STRASSE", "刀", "7", ""];
/// In doubles, three times a tenth is more than once three tenths.
const AMOUNTS: [u64; 9] = [0, 1, 2, 3, 10, 30, 100, 300, 1_000_000_000_000_000_000];
const RATES: [&str; 9] = [
    "1",
    "0.1",
    "0.3",
    "0.5",
    "0.01",
    "0",
    "0.3333333333333333333333333333333333333333",
    "0.0000000000000000000000000000000000000001",
    "9999999999999999999999999999999999999999",
];
const DECIMALS: [u8; 4] = [0, 0, 2, 77];

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Token ids that are usual.
    pub(crate) tokens: u64,
    /// Orders of each marketplace.
    pub(crate) orders: u64,
    /// Accounts.
    pub(crate) accounts: u8,
    /// Times that the collection changes.
    pub(crate) steps: u64,
}

/// What comes at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) tokens: Vec<(TokenId, Token)>,
    pub(crate) balances: Vec<(TokenId, Address, Amount)>,
    pub(crate) orders: Vec<OrderFacts>,
    pub(crate) gone_orders: Vec<OrderKey>,
}

pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) scale: Scale,
    /// One in how many tokens of a large collection has a second level, while which there is no ladder.
    pub(crate) second_levels: u64,
    /// One in how many offers is for any token.
    pub(crate) collection_offers: u64,
}

pub(crate) fn account(number: u8) -> Address {
    Address::from_bytes([number.wrapping_mul(37).wrapping_add(1); 20])
}

pub(crate) fn currency(number: u8) -> Address {
    let mut bytes = [0; 20];
    bytes[0] = number.wrapping_mul(101);
    Address::from_bytes(bytes)
}

/// An instant so many nanoseconds after the one at which every trial begins.
pub(crate) fn instant(nanos: i64) -> Timestamp {
    Timestamp::from_unix_nanos(1_700_000_000_000_000_000 + i128::from(nanos))
}

impl Generator {
    pub(crate) fn token_id(&mut self) -> TokenId {
        let below_max = TokenId::from(U256::MAX - U256::from(self.random.below(3)));
        let rare =
            [below_max, TokenId::from(U256::from(1) << 64), TokenId::from(u64::MAX), TokenId::from(40_000)];
        if self.random.one_in(20) { *self.random.pick(&rare) } else { self.usual_token_id() }
    }

    fn usual_token_id(&mut self) -> TokenId {
        TokenId::from(self.random.below(self.scale.tokens))
    }

    pub(crate) fn account(&mut self) -> Address {
        account(u8::try_from(self.random.below(self.scale.accounts.into())).unwrap())
    }

    pub(crate) fn currency_address(&mut self) -> Address {
        currency(u8::try_from(self.random.below(4)).unwrap())
    }

    pub(crate) fn amount(&mut self) -> Amount {
        if self.random.one_in(8) {
            return Amount::from(U256::MAX - U256::from(self.random.below(3)));
        }
        Amount::from(*self.random.pick(&AMOUNTS))
    }

    fn quantity(&mut self) -> Amount {
        if self.random.one_in(12) { Amount::MAX } else { Amount::from(self.random.below(5)) }
    }

    /// What covers an order: mostly nobody knows.
    fn backing(&mut self) -> Option<Amount> {
        self.random.one_in(3).then(|| self.quantity())
    }

    pub(crate) fn currency(&mut self) -> Currency {
        let rate = (!self.random.one_in(5)).then(|| self.random.pick(&RATES).parse().unwrap());
        Currency {
            chain_id: ChainId(1),
            contract_address: self.currency_address(),
            name: String::new(),
            symbol: String::new(),
            decimals: *self.random.pick(&DECIMALS),
            image_url: String::new(),
            rate: rate.map(|rate| DatedRate { rate, at: Timestamp::ZERO }),
        }
    }

    pub(crate) fn name(&mut self, id: TokenId) -> String {
        let (first, second) = (*self.random.pick(&WORDS), *self.random.pick(&WORDS));
        match self.random.below(6) {
            0 => first.to_owned(),
            1 => format!("{first} {second}"),
            // Every three characters of `abcd` in a row are in both.
            2 => format!("abc bcd {first}"),
            3 => format!("abcd {first}"),
            _ => format!("Divine {first} #{id}"),
        }
    }

    pub(crate) fn int(&mut self) -> i64 {
        match self.random.below(30) {
            0 => i64::MIN,
            1 => i64::MAX,
            _ => i64::try_from(self.random.below(self.scale.tokens.min(300))).unwrap() - 3,
        }
    }

    pub(crate) fn value(&mut self) -> Value {
        let others = ["true", "1.5", "99999999999999999999", r#"{"a":[1,{"z":null}]}"#, "{}"];
        match self.random.below(4) {
            0 => Value::Int(self.int()),
            1 => Value::Other((*self.random.pick(&others)).into()),
            _ => self.text(),
        }
    }

    fn text(&mut self) -> Value {
        Value::Text((*self.random.pick(&["Rare", "Common", "rare", "7", ""])).into())
    }

    /// Kinds stay apart by name for the most part, and are mixed in some collections.
    pub(crate) fn property(&mut self) -> Property {
        let list = |generator: &mut Self| {
            Values::List((0..generator.random.below(4)).map(|_| generator.value()).collect())
        };
        let (name, values) = match self.random.below(6) {
            0 | 1 => ("Rarity", Values::One(self.text())),
            2 => ("Level", Values::One(Value::Int(self.int()))),
            3 => ("tags", list(self)),
            4 if self.random.one_in(2) => ("mixed", list(self)),
            _ => ("mixed", Values::One(self.value())),
        };
        Property { name: name.to_owned(), values }
    }

    /// Large collections have a level for nearly every token, some numbers for each, a property around the border between
    /// few and many, and one of very many values.
    fn usual_properties(&mut self, id: TokenId) -> Vec<Property> {
        let one = |name: &str, value| Property { name: name.to_owned(), values: Values::One(value) };
        let scores = (0..=self.random.below(3)).map(|_| Value::Int(self.int())).collect();
        let scores = Property { name: "Scores".to_owned(), values: Values::List(scores) };
        let mut properties = vec![one("Level", Value::Int(self.int())), scores];
        if id.value() < U256::from(512) && !self.random.one_in(200) {
            properties.push(one("Border", Value::Int(1)));
        }
        if id.value() < U256::from(1_001) && !self.random.one_in(1_000) {
            properties.push(one("Serial", Value::Text(id.to_string().into())));
        }
        properties
    }

    fn fitting_property(&mut self) -> Option<Property> {
        let property = self.property();
        let is_second_level = self.scale.tokens > 1_000 && property.name == "Level";
        (!is_second_level || self.random.one_in(self.second_levels)).then_some(property)
    }

    pub(crate) fn token(&mut self, id: TokenId) -> Token {
        let mut token = Token { name: self.name(id), ..Token::default() };
        if self.scale.tokens > 1_000 {
            token.attributes = self.usual_properties(id);
        }
        for _ in 0..self.random.below(3) {
            token.attributes.extend(self.fitting_property());
        }
        for _ in 0..self.random.below(3) {
            token.properties.extend(self.fitting_property());
        }
        token.render(id, &mut self.random);
        token
    }

    fn instant_near(&mut self, now: i64) -> Timestamp {
        let away = i64::try_from(self.random.below(8)).unwrap() - 2;
        if self.random.one_in(2) { Timestamp::ZERO } else { instant(now + away) }
    }

    fn order_key(&mut self) -> OrderKey {
        let number = self.random.below(self.scale.orders);
        let id = match number {
            3 => "a\"\\b".to_owned(),
            4 => "é\u{1}".to_owned(),
            _ => number.to_string(),
        };
        OrderKey { marketplace: *self.random.pick(&MARKETPLACES), order_id: id }
    }

    fn new_order(&mut self, now: i64) -> OrderFacts {
        let OrderKey { marketplace, order_id } = self.order_key();
        let side = *self.random.pick(&[OrderSide::Listing, OrderSide::Listing, OrderSide::Offer]);
        let any_token = side == OrderSide::Offer && self.random.one_in(self.collection_offers);
        let remaining = self.quantity();
        OrderFacts {
            order_id,
            marketplace,
            side,
            status: if self.random.one_in(10) { self.status() } else { OrderStatus::Active },
            token_id: if any_token { None } else { Some(self.token_id()) },
            maker: self.account(),
            price_amount: self.amount(),
            currency: self.currency_address(),
            quantity_initial: remaining.max(Amount::from(5)),
            quantity_remaining: remaining,
            valid_from: self.instant_near(now),
            valid_until: self.instant_near(now),
            created_at: instant(i64::try_from(self.random.below(4)).unwrap()),
            backing: self.backing(),
            is_whole: self.random.one_in(4),
            ..OrderFacts::sample("")
        }
    }

    fn status(&mut self) -> OrderStatus {
        *self.random.pick(OrderStatus::ALL)
    }

    /// A new order, or a known one after something happened to it.
    pub(crate) fn order(&mut self, model: &Model, now: i64) -> OrderFacts {
        let new = self.new_order(now);
        let known = model.orders.range(new.key()..).next();
        let Some((_, known)) = known.or_else(|| model.orders.iter().next()) else { return new };
        let known = known.clone();
        match self.random.below(9) {
            0 => OrderFacts { quantity_remaining: self.quantity().min(known.quantity_initial), ..known },
            1 => OrderFacts { status: OrderStatus::Cancelled, ..known },
            2 => OrderFacts { status: OrderStatus::Active, ..known },
            3 => OrderFacts { price_amount: new.price_amount, currency: new.currency, ..known },
            4 => OrderFacts { valid_from: new.valid_from, valid_until: new.valid_until, ..known },
            5 => OrderFacts { backing: new.backing, ..known },
            _ => keeping_named(new, model),
        }
    }

    /// So many tokens, balances and orders; the tokens are changed or new.
    pub(crate) fn batch(&mut self, model: &Model, sizes: [u64; 3], now: i64) -> Batch {
        let [tokens, balances, orders] = sizes;
        let mut batch = Batch::default();
        for _ in 0..tokens {
            let id = self.token_id();
            batch.tokens.push((id, self.token(id)));
        }
        batch.balances = (0..balances).map(|_| self.balance()).collect();
        for _ in 0..orders {
            let order = self.order(model, now);
            // The same order twice in a batch must keep its token, too.
            let same = |other: &&OrderFacts| other.key() == order.key();
            let token_id =
                batch.orders.iter().rev().find(same).map_or(order.token_id, |other| other.token_id);
            if order.side == OrderSide::Offer || token_id.is_some() {
                batch.orders.push(OrderFacts { token_id, ..order });
            }
        }
        batch.gone_orders.extend(self.gone_order(model, &batch));
        batch
    }

    /// An order that is undone, at times, when something else names its token. Nothing of it comes at the same time.
    fn gone_order(&mut self, model: &Model, batch: &Batch) -> Option<OrderKey> {
        let key = self.order_key();
        let known = model.orders.get(&key).filter(|_| self.random.one_in(2))?;
        let is_named = known.token_id.is_none_or(|token| model.tokens[&token].metadata.is_some());
        let comes = batch.orders.iter().any(|order| order.key() == key);
        (is_named && !comes).then_some(key)
    }

    fn balance(&mut self) -> (TokenId, Address, Amount) {
        (self.token_id(), self.account(), self.quantity())
    }
}

/// An order in the place of another stays with a token that nothing else names: a collection forgets no token, but one
/// loaded anew would not know it.
fn keeping_named(new: OrderFacts, model: &Model) -> OrderFacts {
    let known = model.orders.get(&new.key());
    let named = known.and_then(|known| known.token_id);
    let only_named = named.filter(|token| model.tokens[token].metadata.is_none());
    OrderFacts { token_id: only_named.or(new.token_id), ..new }
}
