//! What logs state.

use alloy_primitives::{B256, Bytes, U256, b256, keccak256};
use bourse_market::facts::{Fact, Log, OrderFilled, OrderMade, OrderRef};
use bourse_wire::{Amount, Marketplace, OrderSide, Timestamp, TokenId};
use proptest::prelude::*;

use super::{COLLECTION, MAKER, MARKET, address, word, word_of};
use crate::own::{Own, TOPICS};
use crate::{LogError, Protocol as _, Scope, Statement};

/// A log put together word by word, as the ABI lays it out.
fn log(topics: &[B256], data: &[B256]) -> Log {
    Log {
        address: MARKET,
        topics: topics.to_vec(),
        data: Bytes::from(data.concat()),
        block_number: 7,
        block_hash: B256::repeat_byte(1),
        tx_hash: B256::repeat_byte(2),
        index: 3,
    }
}

fn created(data: [B256; 6]) -> Log {
    log(&[TOPICS[0], word(12), word_of(MAKER), word_of(COLLECTION)], &data)
}

fn decode(log: &Log) -> Result<Option<Statement>, LogError> {
    let mut decoded = Own::v2(MARKET, None).decode_logs(&[log]);
    assert!(decoded.len() <= 1, "{decoded:?}");
    decoded.pop().transpose()
}

fn fact(log: &Log) -> Statement {
    decode(log).unwrap().unwrap()
}

#[test]
fn topics_are_those_of_the_deployed_contracts() {
    let published = [
        b256!("b67ee55b059861d68b3b5640ee51bde6a5d9d849c6ecdb610663cbd4290bdfd5"),
        b256!("146c7c3a67244cf406ca437a82b2bf587bc02b628b63659c73b4295b8b00e76f"),
        b256!("e0d7665e06e7db1fc500d66d4e3898d1d4a5533d7efe54b352fcdaa177c22783"),
        b256!("b9fd665eb33107da2a1f0113e84d01c5915024b696fa667e66f80505bf3b2977"),
        b256!("359d2c7e56147963a26a08fd48199b16e28d5fff314390b6c79bb822362340ff"),
        b256!("60567f9d30ab22ef3cd7557f56b897c677c80a85c8673a4a5c26eb9349ef8c60"),
    ];
    assert_eq!(TOPICS, published);
}

#[test]
fn a_royalty_is_another() {
    let changed = fact(&log(&[TOPICS[5], word_of(COLLECTION)], &[word_of(MAKER), word(250)]));
    assert_eq!((changed.scope, changed.fact), (Scope::Collection(COLLECTION), Fact::RoyaltiesChanged));
    assert!(decode(&log(&[TOPICS[5], word_of(COLLECTION)], &[word_of(MAKER)])).is_err());
}

#[test]
fn an_order_is_made() {
    let (token, quantity, price, expiry) = (5, 9, 1000, 1_735_689_600);
    let currency = address(0xcc);
    let log = created([word(token), word(1), word(quantity), word_of(currency), word(price), word(expiry)]);
    let order = OrderMade {
        marketplace: Marketplace::OwnV2,
        order_id: "12".to_owned(),
        side: OrderSide::Listing,
        maker: MAKER,
        operator: MARKET,
        token_id: Some(TokenId::from(token)),
        quantity: Amount::from(quantity),
        price_amount: Amount::from(price),
        currency,
        valid_until: "2025-01-01T00:00:00Z".parse().unwrap(),
        fees: Vec::new(),
    };
    let expected =
        Statement { log: 0, scope: Scope::Collection(COLLECTION), fact: Fact::OrderMade(Box::new(order)) };
    assert_eq!(fact(&log), expected);
}

#[test]
fn an_expiry_beyond_all_times_is_the_last_instant() {
    for expiry in [U256::from(u64::MAX), (U256::from(1) << 96) - U256::from(1), U256::MAX] {
        let log = created([word(1), word(0), word(1), word_of(MAKER), word(1), expiry.into()]);
        let Fact::OrderMade(order) = fact(&log).fact else { panic!("no order") };
        assert_eq!(order.valid_until, Timestamp::MAX);
        assert_eq!(order.side, OrderSide::Offer);
    }
}

#[test]
fn orders_are_filled_and_taken_back() {
    let (taker, recipient) = (address(0x7a), address(0x4e));
    let topics = [TOPICS[1], word(12), word_of(taker), word_of(COLLECTION)];
    let filled = Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::OwnV2,
        order_ref: OrderRef::Id("12".to_owned()),
        taker,
        recipient,
        token_id: None,
        quantity: Amount::from(4),
        remaining: Some(Amount::from(6)),
    }));
    let one = Scope::Collection(COLLECTION);
    assert_eq!(
        fact(&log(&topics, &[word_of(recipient), word(4), word(6)])),
        Statement { log: 0, scope: one, fact: filled }
    );
    let cancelled = Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: "12".to_owned() };
    assert_eq!(
        fact(&log(&[TOPICS[2], word(12), word_of(COLLECTION)], &[])),
        Statement { log: 0, scope: one, fact: cancelled }
    );
    let invalidated =
        Fact::OrdersInvalidated { marketplace: Marketplace::OwnV2, maker: MAKER, below: U256::from(40) };
    assert_eq!(
        fact(&log(&[TOPICS[3], word_of(MAKER), word(40)], &[])),
        Statement { log: 0, scope: Scope::EveryCollection, fact: invalidated.clone() }
    );
    assert_eq!(
        fact(&log(&[TOPICS[4], word_of(MAKER), word_of(COLLECTION), word(40)], &[])),
        Statement { log: 0, scope: one, fact: invalidated }
    );
}

#[test]
fn other_logs_state_nothing() {
    let upgraded = keccak256("Upgraded(address)");
    for topics in [&[][..], &[upgraded, word_of(MAKER)]] {
        let log = log(topics, &[]);
        assert_eq!(decode(&log), Ok(None));
        assert_eq!(Own::v1(MARKET).decode_logs(&[&log]), []);
    }
}

#[test]
fn malformed_logs_are_errors_that_name_the_log() {
    let whole = [word(1), word(1), word(1), word_of(MAKER), word(1), word(1)];
    let mut not_bool = whole;
    not_bool[1] = word(2);
    let mut not_address = whole;
    not_address[3] = B256::repeat_byte(0xff);
    for data in [&[][..], &whole[..5], &not_bool, &not_address] {
        let topics = [TOPICS[0], word(12), word_of(MAKER), word_of(COLLECTION)];
        let error = decode(&log(&topics, data)).unwrap_err();
        assert_eq!((error.address, error.index), (MARKET, 3));
        assert!(error.event.starts_with("RequestCreated("), "{error}");
    }
    for topics in [&[TOPICS[0]][..], &[TOPICS[0], word(12), B256::repeat_byte(0xff), word_of(COLLECTION)]] {
        assert!(decode(&log(topics, &whole)).is_err());
    }
    assert!(decode(&log(&[TOPICS[4], word_of(MAKER), word(40)], &[])).is_err());
}

proptest! {
    /// Whatever a node says, decoding ends with a value.
    #[test]
    fn hostile_logs_never_panic(
        name in 0..TOPICS.len(),
        topics in prop::collection::vec(any::<[u8; 32]>(), 0..5),
        data in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        let mut all = vec![TOPICS[name]];
        all.extend(topics.into_iter().map(B256::from));
        let mut given = log(&all, &[]);
        given.data = data.into();
        let _ = decode(&given);
    }

    /// What a contract writes is what is read.
    #[test]
    fn orders_come_out_as_they_went_in(words in any::<[[u8; 32]; 4]>(), is_listing: bool, expiry in 0..253_402_207_200_u64) {
        let [id, token, quantity, price] = words.map(|bytes| U256::from_be_bytes(bytes));
        let topics = [TOPICS[0], id.into(), word_of(MAKER), word_of(COLLECTION)];
        let data = [
            token.into(),
            word(is_listing.into()),
            quantity.into(),
            word_of(MAKER),
            price.into(),
            word(expiry),
        ];
        let Fact::OrderMade(order) = fact(&log(&topics, &data)).fact else { panic!("no order") };
        prop_assert_eq!(order.order_id, id.to_string());
        prop_assert_eq!(order.token_id, Some(TokenId::from(token)));
        prop_assert_eq!(order.quantity.value(), quantity);
        prop_assert_eq!(order.price_amount.value(), price);
        prop_assert_eq!(order.side == OrderSide::Listing, is_listing);
        prop_assert_eq!(order.valid_until.unix_seconds().unsigned_abs(), expiry);
    }
}
