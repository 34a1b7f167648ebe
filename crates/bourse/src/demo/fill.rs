//! Putting the demo's data into the store.

use std::collections::HashSet;

use bourse_server::settings::Settings;
use bourse_server::{FileError, Files, entropy};
use bourse_store::{AudienceChanges, CollectionKey, NewHostedToken, Project, ProjectScope, Upload};
use bourse_wire::{
    AssetInput, ChainId, CollectionInput, Error, Marketplace, PageInput, RecordId, ServiceName, TokenInput,
    from_value,
};
use serde_json::{Value, json};

use super::credentials::{Contract, Credentials};
use super::data::{self, DemoContext};
use super::{projects, sale};
use crate::commands::{key, project, token};
use crate::context::{CommandError, Context};
use crate::import::{Pending, Reader};
use crate::progress::Progress;

/// The credentials of a filled data directory, which is filled first when it is not yet.
pub(super) async fn open(settings: &Settings) -> Result<Credentials, CommandError> {
    let context = Context::with(settings.clone()).await?;
    let projects = context.store.projects().await?;
    let known = Credentials::read(&settings.storage.data)?.filter(|known| {
        projects.iter().any(|project| project.id == known.project_id && project.name == projects::PLAIN)
    });
    let credentials = match known {
        Some(credentials) => credentials,
        // None yet, or those of another database.
        None => fill(&context).await?,
    };
    let credentials = credentials.at(settings);
    credentials.write(&settings.storage.data)?;
    context.store.close().await;
    Ok(credentials)
}

/// Fills the store. Interrupted, it can be started again: every step finds what an earlier one made.
async fn fill(context: &Context) -> Result<Credentials, CommandError> {
    let (project, access_key, secret_token) = make_project(context).await?;
    let scope = ProjectScope::of_operator(project.id);
    import(context, &project).await?;
    join_market(context, scope).await?;
    let mut shop = json!({
        "settings": { "accessKey": access_key },
        "site": { "enabled": true, "description": data::SHOP_DESCRIPTION },
    });
    if sale::is_told(&context.settings) {
        shop["shop"] = json!({ "enabled": true });
        shop["shopCollections"] = json!([sale::shop_collection()]);
    }
    projects::open_shop(context, scope, shop).await?;
    let collection_id = host_collection(context, scope).await?;
    let (trial_key, _) = key::create(context, scope, key::for_every_service("trial")).await?;
    let audiences = context.store.audiences(scope).await?;
    let audience = audiences.iter().find(|audience| audience.name == data::AUDIENCE_NAME);
    let missing = || CommandError::Other("the demo's audience is missing".to_owned());
    for other in audiences.iter().filter(|audience| audience.name != data::AUDIENCE_NAME) {
        let changes = AudienceChanges { registration_open: Some(true), ..AudienceChanges::default() };
        context.store.update_audience(scope, other.id, changes, context.clock.now()).await?;
    }
    Ok(Credentials {
        metadata_url: String::new(),
        api_url: String::new(),
        marketplace_url: String::new(),
        network: data::NETWORK.to_owned(),
        chain_id: data::CHAIN_ID,
        project_id: project.id,
        access_key,
        secret_token,
        trial_key,
        collection_id,
        audience_id: audience.ok_or_else(missing)?.id,
        contracts: data::CONTRACTS
            .map(|(address, kind)| Contract { address: address.to_owned(), r#type: kind.to_owned() })
            .to_vec(),
    })
}

async fn make_project(context: &Context) -> Result<(Project, String, String), CommandError> {
    let projects = context.store.projects().await?;
    let Some(project) = projects::own(&projects, projects::PLAIN, context)?.cloned() else {
        let created = project::create(context, projects::PLAIN, key::for_every_service("default")).await?;
        return Ok((created.project, created.access_key, created.secret_token));
    };
    let scope = ProjectScope::of_operator(project.id);
    let (access_key, _) = key::create(context, scope, key::for_every_service("default")).await?;
    let (secret_token, _) = token::create(context, scope, "default", None).await?;
    Ok((project, access_key, secret_token))
}

async fn import(context: &Context, project: &Project) -> Result<(), CommandError> {
    let service = ServiceName::new(&context.settings.service.name);
    let now = context.clock.now();
    let demo = DemoContext {
        project_id: project.id.get(),
        now_unix: now.unix_seconds().unsigned_abs(),
        own_marketplace_v1: Marketplace::OwnV1.word(&service),
        own_marketplace_v2: Marketplace::OwnV2.word(&service),
        registry: context.settings.networks.registry(),
    };
    let reader = Reader::new(&context.settings, HashSet::from([project.id]), context.clock.clone());
    let house = context.counting_house();
    let mut progress = Progress::start("filling the demo", None);
    let (mut pending, mut done) = (Pending::default(), 0);
    for line in data::lines(&demo) {
        done += 1;
        // The demo's records are small: their number is bound enough.
        if pending.add(reader.record(line)?, 0) {
            std::mem::take(&mut pending).commit(&context.store, &house, now).await?;
            progress.at(done, || format!("{done} records"));
        }
    }
    pending.commit(&context.store, &house, now).await?;
    Ok(())
}

/// Makes both collections the project's own, and counts what happened in them, so that the first answers are whole.
async fn join_market(context: &Context, scope: ProjectScope) -> Result<(), CommandError> {
    let wrong = |error| Error::invalid("contractAddress", error);
    for (address, _) in data::CONTRACTS {
        let address = address.parse().map_err(wrong)?;
        let key = CollectionKey { chain: ChainId(data::CHAIN_ID), address };
        context.store.join_market(scope, key, context.actor()).await?;
    }
    match context.counting_house().count_markets(context.clock.now()).await? {
        0 => Ok(()),
        _ => Err(CommandError::Other("what happened in the demo's market could not be counted".to_owned())),
    }
}

/// The hosted collection with its tokens and files, published.
async fn host_collection(context: &Context, scope: ProjectScope) -> Result<RecordId, CommandError> {
    let (store, now) = (&context.store, context.clock.now());
    let first_page = PageInput::default().resolve(1, 1)?;
    // One that an interrupted start left half-made is made anew.
    for half_made in store.hosted_collections(scope, &first_page).await? {
        store.delete_hosted_collection(scope, half_made.id, now).await?;
    }
    let hosted = data::hosted();
    let input: CollectionInput = read(json!({ "metadata": hosted.metadata, "private": false }))?;
    let collection = store.create_hosted_collection(scope, input, now).await?;
    for token in hosted.tokens {
        let input: TokenInput = read(token)?;
        let id = input.token_id.ok_or_else(|| Error::invalid("tokenId", "is required"))?;
        store
            .create_hosted_token(
                scope,
                collection.id,
                NewHostedToken { token_id: id, input, private: false },
                now,
            )
            .await?;
    }
    let files = Files::open(&context.settings.storage, &context.settings.s3, entropy::word);
    let files = files.await.map_err(CommandError::io("opening the assets"))?;
    for file in hosted.assets {
        let input: AssetInput = read(json!({
            "collectionId": collection.id,
            "tokenId": file.token_id,
            "metadataField": file.metadata_field,
            "filename": file.filename,
        }))?;
        let asset = store.create_asset(scope, input, now).await?;
        let (stored, claim) = files.put(file.bytes, now).await.map_err(|error| match error {
            FileError::Refused(error) => CommandError::from(error),
            FileError::Io(source) => CommandError::Io { what: "storing an asset".to_owned(), source },
        })?;
        let upload = Upload { file: stored, filename: String::new(), project_bytes_max: None };
        store.set_asset_file(scope, asset.id, upload, now).await?;
        claim.end().await;
    }
    Ok(collection.id)
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, CommandError> {
    from_value(value).map_err(|error| CommandError::Refused(error.into()))
}
