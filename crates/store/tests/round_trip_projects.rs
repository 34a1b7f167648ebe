//! Audiences, credentials and usage come back as they were stored, on either engine.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod projects;
    pub(crate) mod random;
    pub(crate) mod values;
}

use std::collections::BTreeMap;

use bourse_store::testing::{operator, usage_since};
use bourse_store::{
    AccessKeyRecord, Actor, AudienceChanges, AudienceContractInput, AudienceImport, KeyTerms,
    SecretTokenRecord, UsageLine,
};
use bourse_wire::{Address, ChainId, ContactInput, ContractSource, Day};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use support::projects::project;
use support::values::{address, chain, check, text, time};

fn contact() -> impl Strategy<Value = ContactInput> {
    let email = select(&["", "a@b.co", "first.last+tag@sub.example.org", "用户@例え.jp"][..]);
    (option::of(text()), address(), option::of(email)).prop_map(|(name, address, email)| ContactInput {
        name: name.map(|name| name.parse().unwrap()),
        address,
        email: email.map(|email| email.parse().unwrap()),
    })
}

fn audience_contract() -> impl Strategy<Value = AudienceContractInput> {
    let sources = [ContractSource::Linked, ContractSource::Deployed, ContractSource::Sale];
    (chain(), address(), vec(text(), 5), select(Vec::from(sources)), option::of(address())).prop_map(
        |(chain, address, texts, source, items_contract_address)| {
            let [name, contract_type, abi, bytecode, bytecode_hash] = texts.try_into().unwrap();
            AudienceContractInput {
                chain,
                address,
                name,
                contract_type,
                source,
                items_contract_address,
                abi,
                bytecode,
                bytecode_hash,
            }
        },
    )
}

#[test]
fn audiences_come_back() {
    let inputs = ([text(), text()], vec(contact(), 0..5), vec(audience_contract(), 0..4), [time(), time()]);
    check(64, &inputs, &async |store, ([name, renamed], contacts, contracts, [made_at, changed_at])| {
        let scope = project(store).await;
        let people: BTreeMap<Address, &ContactInput> =
            contacts.iter().map(|contact| (contact.address, contact)).collect();
        let linked: BTreeMap<(ChainId, Address), &AudienceContractInput> =
            contracts.iter().map(|contract| ((contract.chain, contract.address), contract)).collect();
        let import = || {
            store.import_audience(
                scope,
                AudienceImport {
                    name: name.parse().unwrap(),
                    contacts: contacts.clone(),
                    contracts: contracts.clone(),
                },
                made_at,
            )
        };
        assert_eq!(import().await.unwrap(), 1 + (people.len() + linked.len()) as u64);
        assert_eq!(import().await.unwrap(), 0);

        let id = store.audiences(scope).await.unwrap()[0].id;
        let view = store.audience(scope, id).await.unwrap();
        assert_eq!((&view.audience.name, view.audience.contact_count), (&name, people.len() as u64));
        assert_eq!((view.audience.created_at, view.audience.updated_at), (made_at, made_at));
        for contact in &view.contacts {
            let input = people[&contact.address];
            assert_eq!(contact.name, input.name.clone().unwrap_or_default().into_string());
            assert_eq!(contact.email, input.email.as_ref().map_or_else(String::new, ToString::to_string));
            assert_eq!((contact.audience_id, contact.created_at, contact.updated_at), (id, made_at, made_at));
        }
        for contract in &view.contracts {
            let back = AudienceContractInput {
                chain: contract.chain_id,
                address: contract.contract_address,
                name: contract.contract_name.clone(),
                contract_type: contract.contract_type.clone(),
                source: contract.source,
                items_contract_address: contract.items_contract_address,
                abi: contract.abi.clone(),
                bytecode: contract.bytecode.clone(),
                bytecode_hash: contract.bytecode_hash.clone(),
            };
            assert_eq!(&back, linked[&(back.chain, back.address)]);
            assert_eq!(
                (contract.audience_id, contract.created_at, contract.updated_at),
                (id, made_at, made_at)
            );
        }
        assert_eq!((view.contacts.len(), view.contracts.len()), (people.len(), linked.len()));

        let name = Some(renamed.parse().unwrap());
        let changes = AudienceChanges { name, registration_open: Some(true) };
        let other = store.update_audience(scope, id, changes, changed_at).await.unwrap();
        assert_eq!((&other.name, other.created_at, other.updated_at), (&renamed, made_at, changed_at));
        assert!(other.registration_open && !view.audience.registration_open);
        assert!(store.audience(scope, id).await.unwrap().audience.registration_open);
        assert_eq!(store.audiences(scope).await.unwrap(), [other]);
        let everybody = view.contacts.iter().map(|contact| contact.id).collect();
        assert_eq!(
            store.remove_contacts(scope, id, everybody, changed_at).await.unwrap(),
            people.len() as u64
        );
        assert_eq!(store.audience(scope, id).await.unwrap().contacts, []);
    });
}

#[test]
fn access_keys_come_back() {
    let lists = (vec(text(), 0..4), vec(text(), 0..4));
    check(64, &([text(), text()], any::<bool>(), lists, [time(), time()]), &async |store, case| {
        let ([hash, display_name], require_origin, (allowed_origins, allowed_services), [made_at, used_at]) =
            case;
        let scope = project(store).await;
        let terms = KeyTerms {
            display_name: display_name.clone(),
            require_origin,
            allowed_origins: allowed_origins.clone(),
            allowed_services: allowed_services.clone(),
        };
        let made =
            store.create_access_key(scope, hash.clone(), terms, Actor::command_line(made_at)).await.unwrap();
        let mut expected = AccessKeyRecord {
            project: scope.project(),
            id: made.id,
            hash,
            display_name,
            active: true,
            default: true,
            require_origin,
            allowed_origins,
            allowed_services,
            created_at: made_at,
            last_used_at: None,
        };
        assert_eq!(made, expected);
        store.note_last_use(vec![(scope.project(), made.id, used_at)], Vec::new()).await.unwrap();
        expected.last_used_at = Some(used_at);
        assert_eq!(store.access_keys(scope).await.unwrap(), [expected.clone()]);
        assert!(store.all_access_keys().await.unwrap().contains(&expected));
    });
}

#[test]
fn secret_tokens_come_back() {
    let inputs = ([text(), text()], time(), option::of(time()), [time(), time()]);
    check(
        64,
        &inputs,
        &async |store, ([id, display_name], created_at, expires_at, [used_at, revoked_at])| {
            let scope = project(store).await;
            let mut token = SecretTokenRecord {
                project: scope.project(),
                id: id.clone(),
                display_name,
                created_at,
                expires_at,
                revoked_at: None,
                last_used_at: None,
            };
            store.create_secret_token(token.clone(), operator()).await.unwrap();
            assert_eq!(store.secret_tokens(scope).await.unwrap(), [token.clone()]);
            store.note_last_use(Vec::new(), vec![(scope.project(), id.clone(), used_at)]).await.unwrap();
            store.revoke_secret_token(scope, id, Actor::command_line(revoked_at)).await.unwrap();
            (token.last_used_at, token.revoked_at) = (Some(used_at), Some(revoked_at));
            assert_eq!(store.secret_tokens(scope).await.unwrap(), [token.clone()]);
            assert!(store.all_secret_tokens().await.unwrap().contains(&token));
        },
    );
}

fn usage() -> impl Strategy<Value = Vec<UsageLine>> {
    let service = select(&["", "Marketplace", "メタデータ"][..]).prop_map(str::to_owned);
    let line = (text(), service, time().prop_map(Day::of), 0..1_u64 << 50);
    vec(line.prop_map(|(id, service, day, units)| UsageLine { id, service, day, units }), 0..8)
}

#[test]
fn usage_adds_up() {
    check(64, &(usage(), time().prop_map(Day::of)), &async |store, (lines, since)| {
        let scope = project(store).await;
        let latest: BTreeMap<&str, &UsageLine> = lines.iter().map(|line| (line.id.as_str(), line)).collect();
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for line in latest.values().filter(|line| line.day >= since) {
            *expected.entry(line.service.clone()).or_default() += line.units;
        }
        assert_eq!(store.put_usage(scope, lines.clone()).await.unwrap(), latest.len() as u64);
        assert_eq!(store.put_usage(scope, lines.clone()).await.unwrap(), 0);
        let totals = usage_since(store, since).await.unwrap();
        let own = totals.into_iter().filter(|total| total.project == scope.project());
        assert_eq!(own.map(|total| (total.service, total.units)).collect::<BTreeMap<_, _>>(), expected);
        for mut line in latest.into_values().cloned() {
            line.units ^= 1;
            assert_eq!(store.put_usage(scope, vec![line]).await.unwrap(), 1);
        }
    });
}
