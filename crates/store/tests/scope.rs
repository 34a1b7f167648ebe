//! One project cannot reach what is another's: not read it, not change it, not delete it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod hosted;
    pub(crate) mod projects;
    pub(crate) mod refused;
}

use std::fs;
use std::path::Path;

use bourse_store::testing::{self, TestDatabase, batch, happened, operator, usage_since};
use bourse_store::{
    Actor, AssetFile, AudienceChanges, AudienceContractInput, AudienceImport, BatchMark, Change, Chunk,
    CollectionKey, Counts, CountsCommit, CountsCommitted, CountsCursor, Event, EventKind, Grant,
    HostedTokenEdit, Invited, KeyTerms, Mark, NewAccount, NewInvite, ProjectScope, ProofHash, Reach, Refresh,
    Registration, Role, SecretTokenRecord, Store, Subject, Upload, UsageLine, Visibility,
};
use bourse_wire::{
    ActivityAction, ActivityFacts, Address, AssetInput, ChainId, Code, CollectionInput, ContactInput,
    ContractSource, Day, Page, PageInput, RecordId, Storefront, Text, Timestamp, TokenId, TokenInput,
};
use support::database::open;
use support::hosted::new_token;
use support::projects::project;
use support::refused::code;

const CONTRACT: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };
const TOKEN: TokenId = TokenId::MAX;
const NOW: Timestamp = Timestamp::ZERO;

/// Two projects, of which the first has something of every kind.
struct World {
    _database: TestDatabase,
    store: Store,
    a: ProjectScope,
    b: ProjectScope,
    key: RecordId,
    collection: RecordId,
    asset: RecordId,
    audience: RecordId,
    contact: RecordId,
}

fn later() -> Timestamp {
    "2024-01-01T00:00:00Z".parse().unwrap()
}

fn name<const BYTES: usize>(text: &str) -> Text<BYTES> {
    text.parse().unwrap()
}

fn everything() -> Page {
    PageInput::default().resolve(100, 100).unwrap()
}

fn contact() -> ContactInput {
    ContactInput { name: Some(name("b's")), address: Address::ZERO, email: None }
}

fn audience_contract() -> AudienceContractInput {
    AudienceContractInput {
        chain: CONTRACT.chain,
        address: CONTRACT.address,
        name: String::new(),
        contract_type: String::new(),
        source: ContractSource::Linked,
        items_contract_address: None,
        abi: String::new(),
        bytecode: String::new(),
        bytecode_hash: String::new(),
    }
}

fn event() -> Event {
    Event { id: "e".to_owned(), wallet: Address::ZERO, kind: EventKind::Session, at: NOW }
}

/// The first events of a project, counted.
fn counted() -> CountsCommit {
    CountsCommit {
        batches: vec![BatchMark { id: "batch".to_owned(), for_good: false }],
        chunks: vec![Chunk { key: (1, 7, 0), body: vec![1, 2, 3] }],
        seen: vec![1; 8],
        raw: vec![event()],
        ..CountsCommit::default()
    }
}

fn everything_counted() -> CountsCursor {
    CountsCursor { kinds: vec![(0, 0), (1, 0), (2, 0)], seen: Some(0), ..CountsCursor::default() }
}

fn usage(units: u64) -> UsageLine {
    UsageLine { id: "u".to_owned(), service: "s".to_owned(), day: Day::of(NOW), units }
}

impl World {
    async fn make() -> Self {
        let (database, store) = open().await;
        let (a, b) = (project(&store).await, project(&store).await);
        let key = store
            .create_access_key(a, "a".to_owned(), KeyTerms::default(), Actor::command_line(NOW))
            .await
            .unwrap()
            .id;
        store
            .create_access_key(a, "a2".to_owned(), KeyTerms::default(), Actor::command_line(NOW))
            .await
            .unwrap();
        let token = SecretTokenRecord {
            project: a.project(),
            id: "t".to_owned(),
            display_name: String::new(),
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        };
        store.create_secret_token(token, operator()).await.unwrap();
        let collection = store.create_hosted_collection(a, CollectionInput::default(), NOW).await.unwrap().id;
        store
            .create_hosted_token(a, collection, new_token(TOKEN, TokenInput::default(), true), NOW)
            .await
            .unwrap();
        let asset =
            AssetInput { collection_id: Some(collection), token_id: Some(TOKEN), ..AssetInput::default() };
        let asset = store.create_asset(a, asset, NOW).await.unwrap().id;
        store.create_contract_collection(a, CONTRACT, collection, operator()).await.unwrap();
        let audience = store.create_audience(a, name("people"), NOW).await.unwrap().id;
        let contact = ContactInput { name: Some(name("a's")), address: Address::ZERO, email: None };
        store.add_contacts(a, audience, vec![contact], NOW).await.unwrap();
        let contact = store.audience(a, audience).await.unwrap().contacts[0].id;
        store.commit_counts(a, counted()).await.unwrap();
        store.put_usage(a, vec![usage(7)]).await.unwrap();
        Self { _database: database, store, a, b, key, collection, asset, audience, contact }
    }

    /// Everything of a project, as text.
    async fn all_of(&self, scope: ProjectScope) -> String {
        let store = &self.store;
        let collections = store.hosted_collections(scope, &everything()).await.unwrap();
        let mut parts = vec![
            format!("{:?}", store.project(scope.project()).await.unwrap()),
            format!("{:?}", store.access_keys(scope).await.unwrap()),
            format!("{:?}", store.secret_tokens(scope).await.unwrap()),
            format!("{:?}", store.contract_collections(scope, None, &everything()).await.unwrap()),
            format!("{:?}", store.events(scope).await.unwrap().len()),
            format!("{:?}", store.counts(scope, everything_counted()).await.unwrap()),
        ];
        for hosted in collections {
            parts.push(format!("{:?}", store.hosted_tokens(scope, hosted.id, &everything()).await.unwrap()));
            for token in [None, Some(TOKEN)] {
                parts.push(format!("{:?}", store.assets_of(scope, hosted.id, token).await.unwrap()));
            }
            parts.push(format!("{hosted:?}"));
        }
        for audience in store.audiences(scope).await.unwrap() {
            parts.push(format!("{:?}", store.audience(scope, audience.id).await.unwrap()));
        }
        let usage = usage_since(store, Day::of(NOW)).await.unwrap();
        let own = usage.into_iter().filter(|total| total.project == scope.project());
        parts.push(format!("{:?}", own.collect::<Vec<_>>()));
        parts.join("\n")
    }
}

#[tokio::test]
async fn credentials_are_out_of_reach() {
    let World { store, a, b, key, .. } = &World::make().await;
    let before = store.access_keys(*a).await.unwrap();
    assert_eq!(store.access_keys(*b).await.unwrap(), []);
    assert_eq!(store.secret_tokens(*b).await.unwrap(), []);
    assert!(
        store
            .create_access_key(*b, "b".to_owned(), KeyTerms::default(), Actor::command_line(NOW))
            .await
            .unwrap()
            .default
    );
    store
        .create_access_key(*b, "b2".to_owned(), KeyTerms::default(), Actor::command_line(NOW))
        .await
        .unwrap();
    assert_eq!(
        code(store.rotate_access_key(*b, *key, "c".to_owned(), Actor::command_line(later())).await),
        Code::NotFound
    );
    assert_eq!(
        code(store.update_access_key(*b, *key, KeyTerms::default(), operator()).await),
        Code::NotFound
    );
    assert_eq!(code(store.disable_access_key(*b, *key, operator()).await), Code::NotFound);
    assert_eq!(
        code(store.revoke_secret_token(*b, "t".to_owned(), Actor::command_line(later())).await),
        Code::NotFound
    );
    assert_eq!(store.access_keys(*a).await.unwrap(), before);
    assert_eq!(store.secret_tokens(*a).await.unwrap()[0].revoked_at, None);
}

#[tokio::test]
async fn members_are_out_of_reach() {
    let World { store, a, b, .. } = &World::make().await;
    let hash = || ProofHash("link".to_owned());
    let invited = Invited::Member(a.project(), Role::Owner);
    let invite = NewInvite { hash: hash(), invited, made_by: None, expires_at: later() };
    store.create_invite(invite, Actor::command_line(NOW)).await.unwrap();
    let new = NewAccount { email: "a@example.com".parse().unwrap(), password_hash: String::new() };
    let account = store.accept_as_new(hash(), new, None, NOW).await.unwrap().id;
    let (before, project) = (store.members(*a).await.unwrap(), store.project(a.project()).await.unwrap());
    assert_eq!((before.len(), store.members(*b).await.unwrap().len()), (1, 0));
    assert_eq!(code(store.set_role(*b, account, Role::Viewer, operator()).await), Code::NotFound);
    assert_eq!(code(store.remove_member(*b, account, operator()).await), Code::NotFound);
    store.rename_project(*b, name("b's"), operator()).await.unwrap();
    assert_eq!(store.members(*a).await.unwrap(), before);
    assert_eq!(store.project(a.project()).await.unwrap(), project);
}

#[tokio::test]
async fn hosted_collections_and_tokens_are_out_of_reach() {
    let world = World::make().await;
    let (before, World { store, a, b, collection, .. }) = (world.all_of(world.a).await, &world);
    let (b, collection) = (*b, *collection);
    let (input, token) = (CollectionInput::default(), TokenInput::default());
    assert_eq!(store.hosted_collections(b, &everything()).await.unwrap(), []);
    assert_eq!(code(store.hosted_collection(b, collection).await), Code::NotFound);
    let update = store.update_hosted_collection(b, collection, input.clone(), later()).await;
    assert_eq!(code(update), Code::NotFound);
    let publish = store.publish_hosted_collection(b, collection, Visibility::PublicWithTokens, later()).await;
    assert_eq!(code(publish), Code::NotFound);
    assert_eq!(code(store.delete_hosted_collection(b, collection, NOW).await), Code::NotFound);

    for id in [TOKEN, TokenId::ZERO] {
        let create =
            store.create_hosted_token(b, collection, new_token(id, token.clone(), false), later()).await;
        assert_eq!(code(create), Code::NotFound);
    }
    assert_eq!(code(store.hosted_token(b, collection, TOKEN).await), Code::NotFound);
    assert_eq!(code(store.hosted_tokens(b, collection, &everything()).await), Code::NotFound);
    let edit = HostedTokenEdit { token_id: TOKEN, input: token, private: Some(false) };
    let update = store.update_hosted_token(b, collection, edit, later()).await;
    assert_eq!(code(update), Code::NotFound);
    assert_eq!(code(store.hosted_token_with_assets(b, collection, TOKEN).await), Code::NotFound);
    assert_eq!(code(store.delete_hosted_token(b, collection, TOKEN, later()).await), Code::NotFound);

    store.create_hosted_collection(b, input, NOW).await.unwrap();
    assert_eq!(world.all_of(*a).await, before);
}

#[tokio::test]
async fn assets_and_links_are_out_of_reach() {
    let world = World::make().await;
    let (before, World { store, a, b, collection, asset, .. }) = (world.all_of(world.a).await, &world);
    let (b, collection, asset) = (*b, *collection, *asset);
    for token_id in [None, Some(TOKEN)] {
        let input = AssetInput { collection_id: Some(collection), token_id, ..AssetInput::default() };
        assert_eq!(code(store.create_asset(b, input, later()).await), Code::NotFound);
        assert_eq!(store.assets_of(b, collection, token_id).await.unwrap(), []);
    }
    assert_eq!(code(store.asset(b, asset).await), Code::NotFound);
    assert_eq!(code(store.update_asset(b, asset, AssetInput::default(), later()).await), Code::NotFound);
    let file =
        AssetFile { content_hash: "b".to_owned(), filesize: 1, mime_type: String::new(), dimensions: None };
    let upload = Upload { file, filename: "b".to_owned(), project_bytes_max: None };
    let upload = store.set_asset_file(b, asset, upload, later()).await;
    assert_eq!(code(upload), Code::NotFound);
    assert_eq!(code(store.delete_asset(b, asset, later()).await), Code::NotFound);
    let file =
        AssetFile { content_hash: "a".to_owned(), filesize: 7, mime_type: String::new(), dimensions: None };
    let upload = Upload { file, filename: String::new(), project_bytes_max: None };
    let other = AssetInput { collection_id: Some(collection), ..AssetInput::default() };
    let other = store.create_asset(*a, other, NOW).await.unwrap().id;
    store.set_asset_file(*a, other, upload, NOW).await.unwrap();
    assert_eq!(store.project_files_bytes(*a).await.unwrap(), 7);
    assert_eq!(store.project_files_bytes(b).await.unwrap(), 0);
    store.delete_asset(*a, other, NOW).await.unwrap();

    assert_eq!(
        code(store.create_contract_collection(b, CONTRACT, collection, operator()).await),
        Code::NotFound
    );
    assert_eq!(code(store.contract_collection(b, CONTRACT).await), Code::NotFound);
    assert_eq!(store.contract_collections(b, None, &everything()).await.unwrap(), []);
    assert_eq!(code(store.contract_collections(b, Some(collection), &everything()).await), Code::NotFound);
    assert_eq!(code(store.delete_contract_collection(b, CONTRACT, NOW).await), Code::NotFound);

    // The same contract may be linked by both, each with a collection of its own.
    let own = store.create_hosted_collection(b, CollectionInput::default(), NOW).await.unwrap().id;
    assert_eq!(code(store.update_contract_collection(b, CONTRACT, own, NOW).await), Code::NotFound);
    store.create_contract_collection(b, CONTRACT, own, operator()).await.unwrap();
    assert_eq!(code(store.update_contract_collection(b, CONTRACT, collection, NOW).await), Code::NotFound);
    store.delete_contract_collection(b, CONTRACT, NOW).await.unwrap();
    assert_eq!(world.all_of(*a).await, before);
}

#[tokio::test]
async fn audiences_are_out_of_reach() {
    let world = World::make().await;
    let (before, World { store, a, b, audience, contact: id, .. }) = (world.all_of(world.a).await, &world);
    let (b, audience) = (*b, *audience);
    assert_eq!(store.audiences(b).await.unwrap(), []);
    assert_eq!(code(store.audience(b, audience).await), Code::NotFound);
    let changes = AudienceChanges { name: Some(name("b's")), registration_open: Some(true) };
    assert_eq!(code(store.update_audience(b, audience, changes, later()).await), Code::NotFound);
    assert_eq!(code(store.delete_audience(b, audience).await), Code::NotFound);
    assert_eq!(code(store.add_contacts(b, audience, vec![contact()], later()).await), Code::NotFound);
    assert_eq!(code(store.remove_contacts(b, audience, vec![*id], later()).await), Code::NotFound);

    // A name is taken within its project only, and an audience of one's own does not reach another's contacts.
    let contracts = vec![audience_contract()];
    let import = AudienceImport { name: name("people"), contacts: vec![contact()], contracts };
    let made = store.import_audience(b, import, later()).await.unwrap();
    assert_eq!(made, 3);
    assert_eq!(code(store.create_audience(b, name("people"), later()).await), Code::RequestConflict);
    assert_eq!(code(store.create_open_audience(b, name("people"), later()).await), Code::RequestConflict);
    let own = store.audiences(b).await.unwrap()[0].id;
    assert_eq!(store.remove_contacts(b, own, vec![*id], later()).await.unwrap(), 0);
    store.delete_audience(b, own).await.unwrap();
    assert_eq!(world.all_of(*a).await, before);
}

#[tokio::test]
async fn audiences_that_are_open_are_out_of_reach() {
    let world = World::make().await;
    let World { store, a, b, audience, .. } = &world;
    let (a, b, audience) = (*a, *b, *audience);
    let changes = AudienceChanges { registration_open: Some(true), ..AudienceChanges::default() };
    store.update_audience(a, audience, changes, later()).await.unwrap();
    let before = world.all_of(a).await;
    let address = contact().address;
    let registration = Registration { contact: contact(), contacts_max: 10 };
    assert_eq!(code(store.check_registration(b, audience).await), Code::NotFound);
    assert_eq!(code(store.register_contact(b, audience, registration, later()).await), Code::NotFound);
    assert_eq!(code(store.registered_contact(b, audience, address).await), Code::NotFound);
    assert_eq!(code(store.registered_count(b, audience).await), Code::NotFound);
    // Nor does an audience of one's own reach another's contacts.
    let own = store.create_open_audience(b, name("people"), later()).await.unwrap().id;
    assert_eq!(store.registered_contact(b, own, address).await.unwrap(), None);
    assert_eq!(store.registered_count(b, own).await.unwrap(), 0);
    assert_eq!(world.all_of(a).await, before);
}

#[tokio::test]
async fn a_storefront_is_out_of_reach() {
    let world = World::make().await;
    let World { store, a, b, .. } = &world;
    let put = store.put_storefront(*a, Storefront::default(), operator()).await.unwrap();
    assert_eq!(store.storefront(*b).await.unwrap(), None);
    store.put_storefront(*b, Storefront::default(), operator()).await.unwrap();
    assert_eq!(store.storefront(*a).await.unwrap(), Some(put));
}

#[tokio::test]
async fn analytics_are_out_of_reach() {
    let world = World::make().await;
    let (before, World { store, a, b, .. }) = (world.all_of(world.a).await, &world);
    assert_eq!(store.events(*b).await.unwrap().len(), 0);
    assert_eq!(store.events_after(*b, None, 10).await.unwrap().len(), 0);
    assert_eq!(store.counts(*b, everything_counted()).await.unwrap(), Counts::default());
    assert_eq!(store.counts_bytes(*b, vec![0, 1, 2], true).await.unwrap(), 0);
    let (version, pieces) = store.all_counts(*b, 1, |key, _| key).await.unwrap();
    assert_eq!((version, pieces), (Mark::default(), Vec::new()));
    let committed = store.commit_counts(*b, counted()).await.unwrap();
    assert_eq!(committed, CountsCommitted::As(1), "ids of batches and of events are the project's own");
    assert_eq!(store.usage_between(*b, Day::of(NOW), Day::of(NOW)).await.unwrap().len(), 0);
    assert_eq!(store.put_usage(*b, vec![usage(9)]).await.unwrap(), 1, "an id is the project's own");
    assert_eq!(store.usage_between(*b, Day::of(NOW), Day::of(NOW)).await.unwrap()[0].units, 9);
    let (today, yesterday) = (Day::of(NOW), Day::from_number(Day::of(NOW).number() - 1));
    let metered = [(*a, yesterday, 5), (*b, yesterday, 100), (*b, today, 7)];
    let lines = metered.map(|(scope, day, units)| testing::metered(scope.project(), "metadata", day, units));
    store.put_metered(lines.to_vec()).await.unwrap();
    for (since, units) in [(yesterday, 107), (today, 7)] {
        let own = store.metered_of(*b, since).await.unwrap();
        assert_eq!(own, [("metadata".to_owned(), units)], "neither what was reported, nor what others used");
        let b = vec![*b];
        let [(_, apart)] = store.metered_apart(b, since).await.try_into().unwrap();
        assert_eq!(apart.unwrap(), own);
    }
    assert_eq!(store.events(*b).await.unwrap().len(), 1);
    assert_eq!(store.forget_events(*b, event().wallet).await.unwrap(), 1);
    assert_eq!(world.all_of(*a).await, before);
}

#[tokio::test]
async fn markets_and_tasks_are_out_of_reach() {
    let world = World::make().await;
    let World { store, a, b, .. } = &world;
    store.join_market(*a, CONTRACT, operator()).await.unwrap();
    let activity = Change::Activity(Box::new(activity()));
    store.commit(batch(CONTRACT, vec![activity])).await.unwrap();
    let id = store.collection(CONTRACT).await.unwrap().unwrap();
    assert!(store.market_news(*b, id, 10).await.unwrap().is_none(), "it is not in the market of B");
    assert_eq!(store.market_collections(*a, 0, 10).await.unwrap().len(), 1);
    assert_eq!(store.market_collections(*b, 0, 10).await.unwrap().len(), 0);
    assert_eq!(store.market_keys(*a, None, 0, 10).await.unwrap(), [(id, CONTRACT)]);
    assert_eq!(store.market_keys(*a, Some(CONTRACT.chain), id.number(), 10).await.unwrap(), []);
    assert_eq!(store.market_keys(*b, None, 0, 10).await.unwrap(), []);
    store.join_market(*b, CONTRACT, operator()).await.unwrap();
    for scope in [a, b] {
        let news = store.market_news(*scope, id, 10).await.unwrap().unwrap();
        assert_eq!((news.step.from, news.activities.len()), (0, 1), "each counts for itself");
    }
    let task = store.refresh(*a, CONTRACT, Refresh::Contract, NOW).await.unwrap().task.id;
    assert_eq!(code(store.task(*b, task).await), Code::NotFound);
    let several = store.refresh_contracts(*b, vec![CONTRACT], NOW).await.unwrap().task.id;
    assert_eq!(code(store.task(*a, several).await), Code::NotFound);
    let own = store.refresh(*b, CONTRACT, Refresh::Contract, NOW).await.unwrap().task.id;
    assert_eq!(
        (code(store.task(*a, own).await), store.task(*b, own).await.unwrap().id),
        (Code::NotFound, own)
    );
}

#[tokio::test]
async fn grants_are_of_one_project() {
    let world = World::make().await;
    let World { store, a, b, .. } = &world;
    let grant = Grant { subject: Subject::Collections, reach: Reach::Contract(CONTRACT) };
    let before = store.grants(*a).await.unwrap();
    store.add_grants(*b, vec![grant, grant], Actor::command_line(NOW)).await.unwrap();
    assert_eq!(store.grants(*b).await.unwrap(), [grant]);
    assert_eq!(store.grants(*a).await.unwrap(), before);
    assert!(store.all_grants().await.unwrap().contains(&(b.project(), grant)));
    assert_eq!(code(store.remove_grant(*a, grant, operator()).await), Code::NotFound);
    let wider = Grant { reach: Reach::Chain(CONTRACT.chain), ..grant };
    assert_eq!(code(store.remove_grant(*b, wider, operator()).await), Code::NotFound);
    store.remove_grant(*b, grant, operator()).await.unwrap();
    assert_eq!(store.grants(*b).await.unwrap(), []);
    let missing = ProjectScope::of_operator(99.try_into().unwrap());
    assert_eq!(
        code(store.add_grants(missing, vec![grant], Actor::command_line(NOW)).await),
        Code::ProjectNotFound
    );
}

fn activity() -> ActivityFacts {
    let sale = happened(ActivityAction::Sale, 1, "sale");
    ActivityFacts { token_id: Some(TOKEN), at: NOW, created_at: NOW, ..sale }
}

#[tokio::test]
async fn ids_of_one_collection_do_not_reach_another_of_the_same_project() {
    let world = World::make().await;
    let World { store, a, contact: id, .. } = &world;
    let other = store.create_hosted_collection(*a, CollectionInput::default(), NOW).await.unwrap().id;
    let audience = store.create_audience(*a, name("others"), NOW).await.unwrap().id;
    let before = world.all_of(*a).await;
    assert_eq!(code(store.hosted_token(*a, other, TOKEN).await), Code::NotFound);
    assert_eq!(code(store.delete_hosted_token(*a, other, TOKEN, later()).await), Code::NotFound);
    assert_eq!(store.assets_of(*a, other, Some(TOKEN)).await.unwrap(), []);
    assert_eq!(store.remove_contacts(*a, audience, vec![*id], NOW).await.unwrap(), 0);
    assert_eq!(world.all_of(*a).await, before);
}

#[test]
fn every_function_with_a_scope_is_tried_here() {
    let here = include_str!("scope.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut tried = 0;
    for directory in [root.clone(), root.join("hosted"), root.join("people")] {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        // What tests set the stage with is no way in for a caller.
        for entry in entries.filter(|path| path.is_file() && !path.ends_with("testing.rs")) {
            let source = fs::read_to_string(&entry).unwrap();
            for function in source.replace("pub async fn ", "pub fn ").split("pub fn ").skip(1) {
                let (function, rest) = function.split_once('(').unwrap();
                let function = function.split_once('<').map_or(function, |(name, _)| name);
                if rest.split_once('{').unwrap().0.contains("ProjectScope") {
                    let call = format!(".{function}(b, ");
                    let calls = [call.clone(), format!(".{function}(*b, "), call.replace(", ", ")")];
                    let found = calls.iter().any(|call| here.contains(call))
                        || here.contains(&format!(".{function}(*b)"));
                    assert!(found, "{} of {} is not tried", function, entry.display());
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 35, "found only {tried} functions");
}
