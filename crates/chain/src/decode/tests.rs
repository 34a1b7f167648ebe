use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolValue;
use bourse_protocols::own::{Own, TOPICS};
use bourse_wire::Marketplace;

use super::*;

const COLLECTION: Address = address_of(0xc0);
const ALICE: Address = address_of(0xa1);
const BOB: Address = address_of(0xb0);

const fn address_of(byte: u8) -> Address {
    Address::from_bytes([byte; 20])
}

fn word_of(address: Address) -> B256 {
    let mut word = [0; 32];
    word[12..].copy_from_slice(address.bytes());
    B256::from(word)
}

fn word(number: u64) -> B256 {
    U256::from(number).into()
}

fn log(topics: &[B256], data: &[u8]) -> Log {
    Log {
        address: COLLECTION,
        topics: topics.to_vec(),
        data: Bytes::copy_from_slice(data),
        block_number: 7,
        block_hash: B256::repeat_byte(1),
        tx_hash: B256::repeat_byte(2),
        index: 3,
    }
}

fn read(topics: &[B256], data: &[u8]) -> Result<Vec<Fact>, Malformed> {
    let DecodedLogs { statements, malformed } = Decoder::default().read(&[&log(topics, data)]);
    for statement in &statements {
        assert_eq!((statement.scope, statement.log), (Scope::Collection(COLLECTION), 0));
    }
    let facts = statements.into_iter().map(|statement| statement.fact).collect();
    if malformed == 0 { Ok(facts) } else { Err(Malformed) }
}

fn transfer(token: u64, quantity: u64, single: bool) -> Fact {
    let (token_id, quantity) = (TokenId::from(token), Amount::from(quantity));
    Fact::Transfer { token_id, from: ALICE, to: BOB, quantity, single }
}

#[test]
fn one_token_moves() {
    let topics = [Transfer::SIGNATURE_HASH, word_of(ALICE), word_of(BOB), word(9)];
    assert_eq!(read(&topics, &[]), Ok(vec![transfer(9, 1, true)]));
}

#[test]
fn money_changes_hands() {
    let topics = [Transfer::SIGNATURE_HASH, word_of(ALICE), word_of(BOB)];
    let paid = |amount| Fact::Paid { from: ALICE, to: BOB, amount };
    assert_eq!(read(&topics, word(9).as_slice()), Ok(vec![paid(Amount::from(9))]));
    assert_eq!(read(&topics, &[0xff; 32]), Ok(vec![paid(Amount::MAX)]));
    // Old contracts of tokens have fewer topics, and others say more.
    for (topics, data) in
        [(&topics[..2], vec![0; 64]), (&topics[..1], vec![0; 96]), (&topics[..], vec![0; 64])]
    {
        assert_eq!(read(topics, &data), Ok(vec![]), "{topics:?}");
    }
    let approval = [Approval::SIGNATURE_HASH, word_of(ALICE), word_of(BOB)];
    assert_eq!(read(&approval, word(9).as_slice()), Ok(vec![]));
}

#[test]
fn several_of_a_token_move() {
    let topics = [TransferSingle::SIGNATURE_HASH, word_of(BOB), word_of(ALICE), word_of(BOB)];
    let data = (U256::from(9), U256::from(40)).abi_encode();
    assert_eq!(read(&topics, &data), Ok(vec![transfer(9, 40, false)]));
}

#[test]
fn a_batch_moves_in_its_order() {
    let topics = [TransferBatch::SIGNATURE_HASH, word_of(BOB), word_of(ALICE), word_of(BOB)];
    let (ids, values) = (vec![U256::from(3), U256::from(1)], vec![U256::from(5), U256::from(6)]);
    let data = (ids.clone(), values).abi_encode_params();
    assert_eq!(read(&topics, &data), Ok(vec![transfer(3, 5, false), transfer(1, 6, false)]));
    let uneven = (ids, vec![U256::from(5)]).abi_encode_params();
    assert_eq!(read(&topics, &uneven), Err(Malformed));
    let empty = (Vec::<U256>::new(), Vec::<U256>::new()).abi_encode_params();
    assert_eq!(read(&topics, &empty), Ok(vec![]));
}

#[test]
fn approvals() {
    let topics = [ApprovalForAll::SIGNATURE_HASH, word_of(ALICE), word_of(BOB)];
    let approval = |approved| Fact::Approval { owner: ALICE, operator: BOB, approved };
    assert_eq!(read(&topics, word(1).as_slice()), Ok(vec![approval(true)]));
    assert_eq!(read(&topics, word(0).as_slice()), Ok(vec![approval(false)]));
    assert_eq!(read(&topics, word(2).as_slice()), Err(Malformed));
    let topics = [Approval::SIGNATURE_HASH, word_of(ALICE), word_of(BOB), word(4)];
    let one = Fact::TokenApproval { token_id: TokenId::from(4), operator: BOB };
    assert_eq!(read(&topics, &[]), Ok(vec![one]));
}

#[test]
fn metadata_changes() {
    let changed = |first, last| Fact::MetadataChanged {
        first: TokenId::from(U256::from(first)),
        last: TokenId::from(U256::from(last)),
    };
    let one = read(&[MetadataUpdate::SIGNATURE_HASH], word(4).as_slice());
    assert_eq!(one, Ok(vec![changed(4_u64, 4)]));
    let name = [BatchMetadataUpdate::SIGNATURE_HASH];
    let range = |first: U256, last: U256| (first, last).abi_encode();
    assert_eq!(read(&name, &range(U256::from(2), U256::from(8))), Ok(vec![changed(2, 8)]));
    assert_eq!(read(&name, &range(U256::from(8), U256::from(2))), Err(Malformed));
    let all = Fact::MetadataChanged { first: TokenId::ZERO, last: TokenId::MAX };
    assert_eq!(read(&name, &range(U256::ZERO, U256::MAX)), Ok(vec![all]));
}

#[test]
fn malformed_logs_are_told_apart_from_others() {
    assert_eq!(read(&[], &[]), Ok(vec![]));
    assert_eq!(read(&[B256::repeat_byte(7)], &[1, 2, 3]), Ok(vec![]));
    assert_eq!(read(&[MetadataUpdate::SIGNATURE_HASH], &[1, 2, 3]), Err(Malformed));
    let dirty = [Transfer::SIGNATURE_HASH, B256::repeat_byte(0xff), word_of(BOB), word(9)];
    assert_eq!(read(&dirty, &[]), Err(Malformed));
    let topics = [TransferBatch::SIGNATURE_HASH, word_of(BOB), word_of(ALICE), word_of(BOB)];
    // Lengths that would need more memory than there is.
    let mut data = [word(64).0, word(96).0, U256::MAX.to_be_bytes(), U256::MAX.to_be_bytes()].concat();
    assert_eq!(read(&topics, &data), Err(Malformed));
    data.truncate(70);
    assert_eq!(read(&topics, &data), Err(Malformed));
}

#[test]
fn a_marketplace_speaks_of_collections() {
    let decoder = Decoder::new(vec![Arc::new(Own::v2(COLLECTION, None))]);
    let topics = [TOPICS[2], word(12), word_of(BOB)];
    let fact = Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: "12".to_owned() };
    let statement = Statement { log: 0, scope: Scope::Collection(BOB), fact };
    let expected = DecodedLogs { statements: vec![statement], malformed: 0 };
    assert_eq!(decoder.read(&[&log(&topics, &[])]), expected);
    // What marketplaces say that names tokens is not of them.
    let topics = [Transfer::SIGNATURE_HASH, word_of(ALICE), word_of(BOB), word(9)];
    assert_eq!(decoder.read(&[&log(&topics, &[])]), DecodedLogs::default());
}

#[test]
fn statements_of_a_transaction_are_in_the_order_of_its_logs() {
    let market = |marketplace: Marketplace, byte: u8| -> Arc<dyn Protocol> {
        match marketplace {
            Marketplace::OwnV1 => Arc::new(Own::v1(address_of(byte))),
            _ => Arc::new(Own::v2(address_of(byte), None)),
        }
    };
    let decoder = Decoder::new(vec![market(Marketplace::OwnV1, 1), market(Marketplace::OwnV2, 2)]);
    let cancelled = |byte: u8, id: u64| Log {
        address: address_of(byte),
        ..log(&[TOPICS[2], word(id), word_of(COLLECTION)], &[])
    };
    let moved = log(&[Transfer::SIGNATURE_HASH, word_of(ALICE), word_of(BOB), word(9)], &[]);
    let logs = [cancelled(2, 7), moved, cancelled(1, 8), log(&[MetadataUpdate::SIGNATURE_HASH], &[1])];
    let DecodedLogs { statements, malformed } = decoder.read(&logs.iter().collect::<Vec<_>>());
    let order = |marketplace, id: &str| Fact::OrderCancelled { marketplace, order_id: id.to_owned() };
    let facts = [order(Marketplace::OwnV2, "7"), transfer(9, 1, true), order(Marketplace::OwnV1, "8")];
    for (place, fact) in facts.into_iter().enumerate() {
        let expected = Statement { log: place, scope: Scope::Collection(COLLECTION), fact };
        assert_eq!(statements.get(place), Some(&expected));
    }
    assert_eq!((statements.len(), malformed), (3, 1));
}

#[test]
fn marketplaces_that_are_found_by_the_same_topics_are_asked_about_together() {
    let decoder = Decoder::new(vec![Arc::new(Own::v1(ALICE)), Arc::new(Own::v2(BOB, None))]);
    let filters = decoder.collection_filters(COLLECTION);
    assert_eq!(filters.len(), 3);
    assert!(filters.iter().all(|filter| filter.addresses == [ALICE, BOB]));
    assert_eq!(filters[2].topics, [vec![TOPICS[3]]]);
}
