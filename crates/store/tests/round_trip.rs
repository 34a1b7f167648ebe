//! Whatever can be stored of collections, currencies and analytics comes back as it was, on either engine.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod projects;
    pub(crate) mod random;
    pub(crate) mod tokens;
    pub(crate) mod values;
}

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bourse_store::testing::{Members as _, batch, load_all, operator};
use bourse_store::{Balance, Change, CollectionKey, Committed, CountsCommit, Event, EventKind, Store};
use bourse_wire::{
    ActivityAction, ActivityFacts, Address, Amount, Asset, ChainId, ContractInfo, ContractInfoExtensions,
    ContractType, Currency, DatedRate, FeeEntry, Marketplace, MetadataStatus, OrderFacts, OrderSide,
    OrderStatus, RecordId, Timestamp, TokenId, TokenMetadata,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use support::projects::project;
use support::tokens::{decimal, object, token_id};
use support::values::{address, chain, check, text, time};

/// A collection that no other case uses.
fn fresh_collection(chain: ChainId) -> CollectionKey {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0xfe; 20];
    bytes[12..].copy_from_slice(&COUNTER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    CollectionKey { chain, address: Address::from_bytes(bytes) }
}

async fn commit(store: &Store, collection: CollectionKey, changes: Vec<Change>) -> Committed {
    store.commit(batch(collection, changes)).await.unwrap()
}

fn record_id() -> impl Strategy<Value = RecordId> + Clone {
    (1..=i64::MAX as u64).prop_map(|id| id.try_into().unwrap())
}

fn asset() -> impl Strategy<Value = Asset> {
    let ids = (record_id(), record_id(), option::of(token_id()));
    // Size and type, and width and height, go out together or not at all.
    let file = option::of((1..=u64::MAX, text()));
    (ids, [text(), text(), text()], file, option::of(any::<(u64, u64)>()), time()).prop_map(
        |((id, collection_id, token_id), [url, metadata_field, filename], file, size, updated_at)| {
            let (filesize, mime_type) = file.unwrap_or_default();
            let (width, height) = size.unzip();
            Asset {
                id,
                collection_id,
                token_id,
                url,
                metadata_field,
                filename,
                filesize,
                mime_type,
                width,
                height,
                updated_at,
            }
        },
    )
}

fn token_metadata() -> impl Strategy<Value = TokenMetadata> {
    let texts = (vec(text(), 5), vec(text(), 4));
    let free = (option::of(object()), option::of(vec(object(), 1..3)));
    let fetched = (option::of(select(MetadataStatus::ALL)), option::of(time()), option::of(time()));
    (token_id(), texts, free, option::of(any::<u64>()), time(), vec(asset(), 0..3), fetched).prop_map(
        |(token_id, (first, second), (properties, attributes), decimals, updated_at, assets, fetched)| {
            let (status, queued_at, last_fetched) = fetched;
            let [name, description, image, video, audio] = first.try_into().unwrap();
            let [image_data, external_url, background_color, animation_url] = second.try_into().unwrap();
            TokenMetadata {
                token_id,
                name,
                description,
                image,
                video,
                audio,
                properties,
                attributes,
                image_data,
                external_url,
                background_color,
                animation_url,
                decimals,
                updated_at,
                assets,
                source: String::new(),
                status,
                queued_at,
                last_fetched,
            }
        },
    )
}

#[test]
fn token_metadata_comes_back() {
    check(64, &(chain(), vec(token_metadata(), 0..4)), &async |store, (chain, tokens)| {
        let key = fresh_collection(chain);
        let expected: BTreeMap<TokenId, TokenMetadata> =
            tokens.iter().map(|token| (token.token_id, token.clone())).collect();
        let changes = |token: &TokenMetadata| Change::Token {
            token_id: token.token_id,
            metadata: token.to_json().unwrap(),
        };
        let changes: Vec<Change> = tokens.iter().map(changes).collect();
        let first = commit(store, key, changes.clone()).await;
        assert_eq!(first.changed, expected.len() as u64);
        assert_eq!(commit(store, key, changes).await, Committed { changed: 0, ..first });

        let id = store.collection(key).await.unwrap().unwrap();
        let loaded = load_all(store, id).await.unwrap();
        let named = store.tokens(id, expected.keys().copied().collect()).await.unwrap();
        for stored in [loaded.tokens, named] {
            assert_eq!(stored.len(), expected.len());
            for token in stored {
                let back: TokenMetadata = serde_json::from_str(&token.metadata).unwrap();
                assert_eq!(back, expected[&token.token_id]);
                assert_eq!(token.metadata, expected[&token.token_id].to_json().unwrap());
            }
        }
    });
}

fn contract_info() -> impl Strategy<Value = ContractInfo> {
    let ids = (chain(), address(), any::<u64>(), address(), option::of(any::<u64>()));
    (ids, vec(text(), 4), vec(text(), 5), select(ContractType::ALL), any::<[bool; 2]>(), time()).prop_map(
        |(
            (chain_id, address, origin_chain_id, origin_address, decimals),
            own,
            more,
            r#type,
            flags,
            updated_at,
        )| {
            let [name, symbol, logo_uri, bytecode_hash] = own.try_into().unwrap();
            let [link, description, og_image, og_name, verified_by] = more.try_into().unwrap();
            let [deployed, verified] = flags;
            let extensions = ContractInfoExtensions {
                link,
                description,
                og_image,
                og_name,
                origin_chain_id,
                origin_address,
                verified,
                verified_by,
                featured: verified,
                blacklist: !verified,
            };
            ContractInfo {
                chain_id,
                address,
                name,
                r#type,
                symbol,
                decimals,
                owner: deployed.then_some(address),
                logo_uri,
                deployed,
                bytecode_hash,
                extensions,
                source: String::new(),
                status: None,
                queued_at: None,
                updated_at,
            }
        },
    )
}

#[test]
fn contract_information_comes_back() {
    check(64, &contract_info(), &async |store, info| {
        let key = CollectionKey { chain: info.chain_id, address: info.address };
        let json = serde_json::to_string(&info).unwrap();
        commit(store, key, vec![Change::Contract(json.clone())]).await;
        assert_eq!(commit(store, key, vec![Change::Contract(json.clone())]).await.changed, 0);
        let id = store.collection(key).await.unwrap().unwrap();
        let stored = store.contract(id).await.unwrap().unwrap();
        assert_eq!(load_all(store, id).await.unwrap().contract.as_ref(), Some(&stored));
        assert_eq!(serde_json::from_str::<ContractInfo>(&stored).unwrap(), info);
        assert_eq!(stored, json);
    });
}

fn currency() -> impl Strategy<Value = Currency> {
    let rate = "[0-9]{1,40}(\\.[0-9]{1,40})?".prop_map(|text| text.parse().unwrap());
    let told = option::of((rate, time()).prop_map(|(rate, at)| DatedRate { rate, at }));
    (chain(), address(), [text(), text(), text()], any::<u8>(), told).prop_map(
        |(chain_id, contract_address, [name, symbol, image_url], decimals, rate)| Currency {
            chain_id,
            contract_address,
            name,
            symbol,
            decimals,
            image_url,
            rate,
        },
    )
}

#[test]
fn currencies_come_back() {
    check(64, &vec(currency(), 0..5), &async |store, currencies| {
        let key = |currency: &Currency| (currency.chain_id, currency.contract_address);
        let expected: BTreeMap<_, _> =
            currencies.iter().map(|currency| (key(currency), currency.clone())).collect();
        store.put_currencies(currencies.clone(), operator()).await.unwrap();
        let stored = store.currencies().await.unwrap();
        assert!(stored.is_sorted_by_key(key));
        let back: BTreeMap<_, _> = stored.into_iter().map(|currency| (key(&currency), currency)).collect();
        for (key, currency) in &expected {
            assert_eq!(back.get(key), Some(currency));
        }
        assert_eq!(store.put_currencies(expected.into_values().collect(), operator()).await.unwrap(), 0);
    });
}

fn amount() -> impl Strategy<Value = Amount> {
    decimal().prop_map(|text| text.parse().unwrap())
}

fn fees() -> impl Strategy<Value = Vec<FeeEntry>> {
    let fee = (text(), address(), any::<i64>());
    vec(fee.prop_map(|(kind, recipient_address, bps)| FeeEntry { kind, recipient_address, bps }), 0..3)
}

fn order() -> impl Strategy<Value = OrderFacts> {
    let marketplace = select(Marketplace::ALL);
    let kind = (marketplace, select(OrderSide::ALL), select(OrderStatus::ALL));
    let parties = (text(), text(), option::of(token_id()), address(), address());
    let amounts = ([amount(), amount(), amount()], any::<u8>(), any::<i64>(), 0..=i64::MAX as u64, fees());
    (kind, parties, amounts, [time(), time(), time(), time(), time(), time()]).prop_map(
        |(kind, parties, (amounts, quantity_decimals, fee_bps, block_number, fee_breakdown), times)| {
            let (order_id, origin_name, token_id, maker, currency) = parties;
            OrderFacts {
                order_id,
                marketplace: kind.0,
                side: kind.1,
                status: kind.2,
                origin_name,
                token_id,
                maker,
                price_amount: amounts[0],
                currency,
                quantity_initial: amounts[1],
                quantity_remaining: amounts[2],
                quantity_decimals,
                fee_bps,
                fee_breakdown,
                valid_from: times[0],
                valid_until: times[1],
                block_number,
                order_created_at: times[2],
                order_updated_at: times[3],
                created_at: times[4],
                updated_at: times[5],
                ..OrderFacts::sample("")
            }
        },
    )
}

/// Gives a member a value of its type that is not the one it has, and near it where that is possible.
macro_rules! other {
    ($($type:ty: |$value:ident| $other:expr;)*) => {
        fn change(name: &str, member: &mut dyn Any) {
            $(if let Some(member) = member.downcast_mut::<$type>() {
                let $value = &*member;
                *member = $other;
                return;
            })*
            panic!("no other value of the type of {name} is known");
        }
    };
}

other! {
    String: |text| format!("{text} ");
    Marketplace: |kind| Marketplace::ALL[(usize::from(kind.number()) + 1) % Marketplace::ALL.len()];
    OrderSide: |side| OrderSide::ALL[(usize::from(side.number()) + 1) % OrderSide::ALL.len()];
    OrderStatus: |status| OrderStatus::ALL[(usize::from(status.number()) + 1) % OrderStatus::ALL.len()];
    Option<String>: |text| if text.is_some() { None } else { Some(String::new()) };
    Option<TokenId>: |token| if token.is_some() { None } else { Some(TokenId::ZERO) };
    Address: |address| if *address == Address::ZERO { Address::from_bytes([9; 20]) } else { Address::ZERO };
    Amount: |amount| if *amount == Amount::MAX { Amount::ZERO } else { Amount::MAX };
    bool: |is| !*is;
    u8: |number| number.wrapping_add(1);
    i64: |number| number.wrapping_sub(1);
    u64: |number| number ^ 1;
    Vec<FeeEntry>: |fees| {
        let fee = FeeEntry { kind: String::new(), recipient_address: Address::ZERO, bps: 1 };
        fees.iter().cloned().chain([fee]).collect()
    };
    Timestamp: |time| {
        let nanosecond = Timestamp::from_unix_nanos(i128::from(time.unix_seconds()) * 1_000_000_000 + 1);
        if *time == nanosecond { Timestamp::ZERO } else { nanosecond }
    };
}

/// That an order was seen again is no change, whenever that was; what covers it only a chain states, and whether it is filled
/// whole only what was signed.
const NO_CHANGE: [&str; 5] = ["created_at", "updated_at", "operator", "backing", "is_whole"];

#[test]
fn orders_come_back_and_every_field_counts() {
    check(64, &(chain(), order()), &async |store, (chain, mut order)| {
        let key = fresh_collection(chain);
        let put = async |order: &OrderFacts| {
            commit(store, key, vec![Change::Order(Box::new(order.clone()))]).await.changed
        };
        assert_eq!((put(&order).await, put(&order).await), (1, 0));
        let id = store.collection(key).await.unwrap().unwrap();
        assert_eq!(load_all(store, id).await.unwrap().orders, [order.clone()]);
        for index in 0..order.members().len() {
            let (name, member) = order.members().swap_remove(index);
            if !NO_CHANGE.contains(&name) {
                change(name, member);
                assert_eq!(put(&order).await, 1, "another {name} is a change");
            }
        }
        assert_eq!(put(&order).await, 0);
    });
}

#[test]
fn balances_come_back_and_count() {
    check(
        64,
        &(chain(), token_id(), address(), amount()),
        &async |store, (chain, token_id, account, balance)| {
            let key = fresh_collection(chain);
            let put = async |token_id, account, balance| {
                commit(store, key, vec![Change::Balance { token_id, account, balance }]).await.changed
            };
            assert_eq!(
                (put(token_id, account, balance).await, put(token_id, account, balance).await),
                (1, 0)
            );
            let id = store.collection(key).await.unwrap().unwrap();
            assert_eq!(load_all(store, id).await.unwrap().balances, [Balance { token_id, account, balance }]);
            let (mut another, mut other_account) = (balance, account);
            change("balance", &mut another);
            change("account", &mut other_account);
            assert_eq!(put(token_id, account, another).await, 1);
            assert_eq!(put(token_id, other_account, another).await, 1);
            assert_eq!(
                (put(token_id, account, balance).await, put(token_id, other_account, another).await),
                (1, 0)
            );
        },
    );
}

fn activity() -> impl Strategy<Value = ActivityFacts> {
    let marketplace = select(Marketplace::ALL);
    let kind = (select(ActivityAction::ALL), marketplace, option::of(token_id()), text());
    let accounts = (address(), option::of(address()));
    let amounts = (amount(), any::<u8>(), option::of(amount()), option::of(address()));
    let block = option::of((0..=i64::MAX as u64, any::<[u8; 32]>()));
    let place = (0..=i64::MAX as u64, block);
    (kind, accounts, amounts, place, text(), [time(), time()]).prop_map(
        |(kind, (from, to), amounts, (log_index, block), unique_hash, [at, created_at])| {
            let (action, marketplace, token_id, tx_hash) = kind;
            let (quantity, quantity_decimals, price_amount, currency) = amounts;
            ActivityFacts {
                action,
                marketplace,
                token_id,
                tx_hash,
                from,
                to,
                quantity,
                quantity_decimals,
                price_amount,
                currency,
                at,
                log_index,
                block_number: block.map(|(number, _)| number),
                block_hash: block.map(|(_, hash)| hash.into()),
                unique_hash,
                created_at,
            }
        },
    )
}

#[test]
fn activities_come_back() {
    check(64, &(chain(), vec(activity(), 1..4)), &async |store, (chain, activities)| {
        let key = fresh_collection(chain);
        let changes = activities.iter().cloned().map(|facts| Change::Activity(Box::new(facts))).collect();
        commit(store, key, changes).await;
        // The first of a name counts.
        let mut expected: Vec<ActivityFacts> = Vec::new();
        for facts in activities {
            if expected.iter().all(|known| known.unique_hash != facts.unique_hash) {
                expected.push(facts);
            }
        }
        let id = store.collection(key).await.unwrap().unwrap();
        let stored = store.activities(id, None, None, 100).await.unwrap();
        let stored: Vec<_> = stored.into_iter().rev().map(|activity| activity.facts).collect();
        assert_eq!(stored, expected);
    });
}

fn event() -> impl Strategy<Value = Event> {
    let kind = select(&[EventKind::Session, EventKind::Transaction, EventKind::Market][..]);
    (text(), address(), kind, time()).prop_map(|(id, wallet, kind, at)| Event { id, wallet, kind, at })
}

#[test]
fn events_come_back_and_count_once() {
    check(64, &vec(event(), 0..8), &async |store, events| {
        let scope = project(store).await;
        // Of two with one id in one call the later counts.
        let distinct: BTreeMap<String, Event> =
            events.iter().map(|event| (event.id.clone(), event.clone())).collect();
        for expected in 0..2 {
            let commit = CountsCommit { expected, raw: events.clone(), ..CountsCommit::default() };
            store.commit_counts(scope, commit).await.unwrap();
        }
        let stored = store.events(scope).await.unwrap();
        let stored: BTreeMap<String, Event> =
            stored.into_iter().map(|event| (event.id.clone(), event)).collect();
        assert_eq!(stored, distinct);
        assert_eq!(store.events(project(store).await).await.unwrap(), []);
    });
}
