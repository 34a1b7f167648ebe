//! Contracts that hosted collections speak for: whoever is killed while thousands of tokens are gone through, all of them say in
//! the end what was said last.

use bourse_store::{NewHostedToken, ProjectScope};
use bourse_wire::{CollectionInput, Timestamp, TokenId, TokenInput};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::Credential;
use crate::instance::{Instance, Project, Server, seen_within};
use crate::process::WAIT_MAX;

const CONTRACT: &str = "0x00000000000000000000000000000000000000bb";
/// Many pages of them.
const TOKENS: u64 = 1_500;
/// Every so many of them is looked at, from 1 on.
const STEP: usize = 97;

fn read<T: DeserializeOwned>(value: &Value) -> T {
    bourse_wire::from_slice(value.to_string().as_bytes(), 16).unwrap()
}

/// A published collection with tokens whose names begin with a word.
fn collection(instance: &Instance, project: &Project, word: &str) -> u64 {
    let (scope, now) = (ProjectScope::of_operator(project.wire_id()), Timestamp::ZERO);
    instance.with_store(async |store| {
        let input: CollectionInput = read(&json!({ "metadata": { "name": word }, "private": false }));
        let id = store.create_hosted_collection(scope, input, now).await.unwrap().id;
        for token in (1..=TOKENS).map(TokenId::from) {
            let input: TokenInput = read(&json!({ "name": format!("{word} {token}") }));
            let token = NewHostedToken { token_id: token, input, private: false };
            store.create_hosted_token(scope, id, token, now).await.unwrap();
        }
        id.get()
    })
}

/// How many of the tokens that are looked at have names that begin with a word.
fn named(server: &Server, project: &Project, word: &str) -> usize {
    let tokens: Vec<String> = (1..=TOKENS).step_by(STEP).map(|token| token.to_string()).collect();
    let body = json!({ "chainID": "137", "contractAddress": CONTRACT, "tokenIDs": tokens });
    let answer = server.call("Metadata/GetTokenMetadata", Credential::Key(&project.key), &body).ok();
    let is_named = |token: &&Value| {
        token["name"].as_str() == Some(&format!("{word} {}", token["tokenId"].as_str().unwrap()))
    };
    answer["tokenMetadata"].as_array().unwrap().iter().filter(is_named).count()
}

#[test]
fn links_are_followed_to_the_end_whoever_is_killed() {
    let instance = Instance::new();
    let project = instance.create_project("Maps");
    let (old, new) = (collection(&instance, &project, "Old"), collection(&instance, &project, "New"));
    let change = |server: &Server, operation: &str, collection: u64| {
        let link = json!({ "chainId": 137, "contractAddress": CONTRACT, "collectionId": collection });
        let body = json!({ "contractCollection": link });
        server.call(operation, Credential::Token(&project.token), &body).ok();
    };
    let all = (1..=TOKENS).step_by(STEP).count();
    let mut server = instance.serve();
    change(&server, "Collections/CreateContractCollection", old);
    seen_within(WAIT_MAX, "some tokens", || named(&server, &project, "Old"), |count| *count > 0);
    server.process.kill();
    let mut server = instance.serve();
    let other = instance.serve();
    for each in [&server, &other] {
        seen_within(WAIT_MAX, "all tokens", || named(each, &project, "Old"), |count| *count == all);
    }
    // What was acknowledged is done by whoever is there.
    change(&server, "Collections/UpdateContractCollection", new);
    server.process.kill();
    seen_within(WAIT_MAX, "the new ones", || named(&other, &project, "New"), |count| *count == all);
    let unlinked = json!({ "chainId": 137, "contractAddress": CONTRACT });
    let token = Credential::Token(&project.token);
    other.call("Collections/DeleteContractCollection", token, &unlinked).ok();
    seen_within(WAIT_MAX, "none of them", || named(&other, &project, "New"), |count| *count == 0);
}
