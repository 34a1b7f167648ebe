//! The audit log: every act is in it, with who did it, or neither is.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod refused;
}

use std::collections::BTreeSet;
use std::net::IpAddr;

use bourse_store::testing::{write_act, write_number};
use bourse_store::{
    Act, Actor, AuditPage, AuditRecord, CollectionKey, Confirmation, CountsCommit, CredentialId, Extent,
    Grant, Identity, Invited, KeyTerms, NewAccount, NewInvite, NewSession, NewWebhook, ProjectScope,
    ProofHash, Reach, Role, SecretTokenRecord, Sender, Store, Subject,
};
use bourse_wire::{Address, ChainId, Code, Currency, DatedRate, EventFilter, Storefront, Text, Timestamp};
use support::database::open;
use support::refused::code;

const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

fn at(second: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_800_000_000 + second)
}

fn hash(text: &str) -> ProofHash {
    ProofHash(format!("secret {text}"))
}

fn name(text: &str) -> Text<256> {
    text.parse().unwrap()
}

async fn invite(store: &Store, link: &str, invited: Invited, actor: Actor) {
    let new = NewInvite { hash: hash(link), invited, made_by: None, expires_at: at(1_000_000) };
    store.create_invite(new, actor).await.unwrap();
}

fn token(project: ProjectScope) -> SecretTokenRecord {
    SecretTokenRecord {
        project: project.project(),
        id: "t".to_owned(),
        display_name: "nightly".to_owned(),
        created_at: at(1),
        expires_at: Some(at(900)),
        revoked_at: None,
        last_used_at: None,
    }
}

fn webhook() -> NewWebhook {
    NewWebhook {
        chain: ChainId(1),
        url: "https://hooks.example/".to_owned(),
        filters: EventFilter::default(),
        name: "hooks".to_owned(),
        secret: "secret".to_owned(),
    }
}

fn currency(symbol: &str, rate: &str) -> Currency {
    Currency {
        chain_id: ChainId(1),
        contract_address: Address::from_bytes([5; 20]),
        name: "Gold".to_owned(),
        symbol: symbol.to_owned(),
        decimals: 18,
        image_url: String::new(),
        rate: Some(DatedRate { rate: rate.parse().unwrap(), at: at(1) }),
    }
}

async fn read(store: &Store, extent: Extent) -> Vec<AuditRecord> {
    store.audit(extent, AuditPage { before: None, limit: 500 }).await.unwrap()
}

/// Does everything that there is to be done, once, and tells the project that it was done in.
async fn administer(store: &Store) -> ProjectScope {
    let operator = || Actor::command_line(at(1));
    invite(store, "first", Invited::Administrator, operator()).await;
    let new = |email: &str| NewAccount { email: email.parse().unwrap(), password_hash: "secret".to_owned() };
    let first = store.accept_as_new(hash("first"), new("a@example.com"), Some(FROM), at(2)).await.unwrap();
    let actor = || Actor::account(&first, Some(FROM), at(3));
    let session = NewSession { hash: hash("session"), account: first.id, expires_at: at(900) };
    store.open_session(session, Some(FROM), at(3)).await.unwrap();
    store.set_password(first.id, "secret too".to_owned(), hash("session"), actor()).await.unwrap();
    let project = store.create_own_project(name("own"), first.id, actor()).await.unwrap().id;
    let scope = ProjectScope::of_operator(project);
    store.rename_project(scope, name("renamed"), actor()).await.unwrap();
    let key = |text: &str| format!("secret hash {text}");
    let first_key = store.create_access_key(scope, key("1"), KeyTerms::default(), actor()).await.unwrap().id;
    let rotated = store.rotate_access_key(scope, first_key, key("2"), actor()).await.unwrap().id;
    let terms = KeyTerms { allowed_origins: vec!["https://a.example".to_owned()], ..KeyTerms::default() };
    store.update_access_key(scope, rotated, terms, actor()).await.unwrap();
    store.create_access_key(scope, key("3"), KeyTerms::default(), actor()).await.unwrap();
    store.disable_access_key(scope, rotated, actor()).await.unwrap();
    store.create_secret_token(token(scope), actor()).await.unwrap();
    store.revoke_secret_token(scope, "t".to_owned(), actor()).await.unwrap();
    let webhook = store.add_webhook(scope, webhook(), 1, actor()).await.unwrap().id;
    store.toggle_webhook(scope, webhook, actor()).await.unwrap();
    store.remove_webhook(scope, webhook, actor()).await.unwrap();
    let grant = Grant { subject: Subject::Identity, reach: Reach::Everywhere };
    store.remove_grant(scope, grant, operator()).await.unwrap();
    store.add_grants(scope, vec![grant], operator()).await.unwrap();
    invite(store, "second", Invited::Member(project, Role::Viewer), actor()).await;
    let second = store.accept_as_new(hash("second"), new("b@example.com"), None, at(4)).await.unwrap().id;
    store.set_role(scope, second, Role::Owner, actor()).await.unwrap();
    store.remove_member(scope, second, actor()).await.unwrap();
    store.remove_account(second, actor()).await.unwrap();
    invite(store, "third", Invited::Person, actor()).await;
    let open = store.open_invites(Extent::Everything, at(5)).await.unwrap();
    store.revoke_invite(Extent::Everything, open[0].id.clone(), actor()).await.unwrap();
    store.propose_second_factor(first.id, "secret seed".to_owned()).await.unwrap();
    let shown = Confirmation { step: 1, recovery: vec![hash("code")], keep: hash("session") };
    store.confirm_second_factor(first.id, shown, actor()).await.unwrap();
    store.renew_recovery_codes(first.id, vec![hash("other code")], actor()).await.unwrap();
    for _ in 0..2 {
        store.remove_second_factor(first.id, operator()).await.unwrap();
    }
    store.close_sessions(first.id, actor()).await.unwrap();
    store.note_refused_sign_in(Some(&first), Some(FROM), at(5)).await.unwrap();
    let program = Sender { project, credential: CredentialId::AccessKey(rotated) };
    let program = Actor { identity: Identity::Program(program), address: Some(FROM), at: at(6) };
    let collection = CollectionKey { chain: ChainId(1), address: Address::ZERO };
    store.follow(collection, 12, program.clone()).await.unwrap();
    store.follow(collection, 12, program.clone()).await.unwrap();
    let discovered = CollectionKey { chain: ChainId(1), address: Address::from_bytes([1; 20]) };
    store.discover(discovered, 12, at(6)).await.unwrap();
    store.resync_chain(ChainId(1), operator()).await.unwrap();
    store.unfollow(collection, operator()).await.unwrap();
    for _ in 0..2 {
        store.join_market(scope, collection, program.clone()).await.unwrap();
    }
    store.put_storefront(scope, Storefront::default(), program.clone()).await.unwrap();
    let forget = CountsCommit { forgotten_by: Some(operator()), ..CountsCommit::default() };
    store.commit_counts(scope, forget).await.unwrap();
    store.put_currencies(vec![currency("OLD", "1")], program.clone()).await.unwrap();
    for rate in ["2", "3", "3"] {
        store.put_currencies(vec![currency("OLD", rate)], program.clone()).await.unwrap();
    }
    scope
}

#[tokio::test]
async fn every_act_is_written_down() {
    let (_database, store) = open().await;
    let scope = administer(&store).await;
    let log = read(&store, Extent::Everything).await;
    let acts: BTreeSet<Act> = log.iter().filter_map(|entry| entry.act).collect();
    let missing: Vec<_> = Act::ALL.iter().filter(|act| !acts.contains(act)).collect();
    assert!(missing.is_empty(), "nobody does {missing:?}: let this test do it");
    let count = |act| log.iter().filter(|entry| entry.act == Some(act)).count();
    for act in [Act::CollectionFollowed, Act::SecondFactorOff, Act::MarketJoined] {
        assert_eq!(count(act), 1, "what changes nothing is no act, nor what a chain brings");
    }
    assert_eq!((count(Act::CurrenciesStated), count(Act::RatesStated)), (1, 1), "rates once an hour");
    for entry in &log {
        let text = format!("{entry:?}");
        assert!(!text.to_lowercase().contains("secret "), "{text}");
    }
    assert!(log.is_sorted_by(|newer, older| newer.id > older.id), "the newest first");

    let of = |act| log.iter().find(|entry| entry.act == Some(act)).unwrap();
    let renamed = of(Act::ProjectRenamed);
    assert_eq!((renamed.subject.as_str(), renamed.detail.as_str()), ("own", "to renamed"));
    let email = "a@example.com".to_owned();
    assert!(matches!(&renamed.actor.identity, Identity::Account { email: found, .. } if *found == email));
    assert_eq!((renamed.actor.address, renamed.actor.at), (Some(FROM), at(3)));
    assert_eq!(of(Act::GrantRemoved).actor, Actor::command_line(at(1)));
    assert_eq!(of(Act::GrantRemoved).subject, "identity of every chain");
    let followed = of(Act::CollectionFollowed);
    assert!(matches!(followed.actor.identity, Identity::Program(_)), "{followed:?}");
    assert_eq!(followed.project, Some(scope.project()), "it concerns who did it");
    assert_eq!(
        (of(Act::MemberRemoved).subject.as_str(), of(Act::MemberRemoved).project),
        ("b@example.com", Some(scope.project()))
    );
}

#[tokio::test]
async fn owners_read_of_their_project_and_pages_follow_each_other() {
    let (_database, store) = open().await;
    let scope = administer(&store).await;
    let log = read(&store, Extent::Everything).await;
    let own = read(&store, Extent::Project(scope)).await;
    let expected: Vec<_> =
        log.iter().filter(|entry| entry.project == Some(scope.project())).cloned().collect();
    assert_eq!(own, expected);
    assert!(own.len() > 10 && own.len() < log.len());
    let nobody = ProjectScope::of_operator(99.try_into().unwrap());
    assert_eq!(read(&store, Extent::Project(nobody)).await, []);
    let (mut paged, mut before) = (Vec::new(), None);
    loop {
        let page = store.audit(Extent::Project(scope), AuditPage { before, limit: 4 }).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        paged.extend(page);
    }
    assert_eq!(paged, own);
}

#[tokio::test]
async fn what_fails_is_not_written_down_and_old_entries_are_forgotten() {
    let (_database, store) = open().await;
    invite(&store, "first", Invited::Administrator, Actor::service(at(1))).await;
    let new = NewAccount { email: "a@example.com".parse().unwrap(), password_hash: String::new() };
    let account = store.accept_as_new(hash("first"), new, None, at(2)).await.unwrap();
    let log = read(&store, Extent::Everything).await;
    let last = store.remove_account(account.id, Actor::command_line(at(3))).await;
    assert_eq!(code(last), Code::RequestConflict);
    let missing = ProjectScope::of_operator(9.try_into().unwrap());
    let refused = store.create_access_key(missing, String::new(), KeyTerms::default(), Actor::service(at(3)));
    assert_eq!(code(refused.await), Code::ProjectNotFound);
    assert_eq!(read(&store, Extent::Everything).await, log);
    assert_eq!(store.prune_audit(at(1)).await.unwrap(), 0);
    assert_eq!(store.prune_audit(at(2)).await.unwrap(), 1);
    assert!(read(&store, Extent::Everything).await.iter().all(|entry| entry.actor.at == at(2)));
}

#[tokio::test]
async fn whoever_tries_again_and_again_to_sign_in_fills_one_entry_an_hour() {
    let (_database, store) = open().await;
    invite(&store, "first", Invited::Administrator, Actor::command_line(at(1))).await;
    let new = NewAccount { email: "a@example.com".parse().unwrap(), password_hash: "secret".to_owned() };
    let account = store.accept_as_new(hash("first"), new, None, at(2)).await.unwrap();
    let elsewhere = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 8));
    for (second, address) in [(10, FROM), (11, FROM), (3_609, elsewhere), (3_611, FROM)] {
        store.note_refused_sign_in(Some(&account), Some(address), at(second)).await.unwrap();
        store.note_refused_sign_in(None, Some(address), at(second)).await.unwrap();
    }
    let log = read(&store, Extent::Everything).await;
    let refused = log.iter().filter(|entry| entry.act == Some(Act::SignInRefused));
    let refused: Vec<_> = refused
        .map(|entry| (entry.subject.as_str(), entry.detail.as_str(), entry.actor.at, entry.actor.address))
        .collect();
    assert_eq!(
        refused,
        [
            ("no account", "1 time", at(3_611), Some(FROM)),
            ("a@example.com", "1 time", at(3_611), Some(FROM)),
            ("no account", "3 times", at(10), Some(elsewhere)),
            ("a@example.com", "3 times", at(10), Some(elsewhere)),
        ]
    );
}

#[tokio::test]
async fn an_act_that_only_a_newer_version_knows_hides_no_other() {
    let (_database, store) = open().await;
    let scope = administer(&store).await;
    let before = read(&store, Extent::Project(scope)).await;
    write_act(&store, before[0].id, "tamed-a-dragon").await.unwrap();
    let after = read(&store, Extent::Project(scope)).await;
    assert_eq!(
        (after[0].act, after[0].word.as_str(), after[0].sentence()),
        (None, "tamed-a-dragon", "tamed-a-dragon")
    );
    assert_eq!(after[1..], before[1..]);
}

/// Of several servers some are of a newer version for a while, and know others who act.
#[tokio::test]
async fn an_actor_whom_only_a_newer_version_knows_fails_no_page() {
    let (_database, store) = open().await;
    store.create_project(name("first"), Actor::command_line(at(1))).await.unwrap();
    write_number(&store, "audit", "actor", 9).await.unwrap();
    store.create_project(name("second"), Actor::command_line(at(2))).await.unwrap();
    let found = store.audit(Extent::Everything, AuditPage { before: None, limit: 10 }).await.unwrap();
    assert_eq!(found.first().unwrap().actor.identity, Identity::CommandLine);
    let oldest = found.last().unwrap();
    assert_eq!((&oldest.actor.identity, oldest.actor.identity.word()), (&Identity::Unknown(9), "unknown"));
    assert_eq!(oldest.act, Some(Act::ProjectCreated));
}
