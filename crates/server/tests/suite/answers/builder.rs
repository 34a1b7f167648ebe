//! Audiences.

use bourse_store::{AudienceContractInput, AudienceImport};
use bourse_wire::{ChainId, ContractSource};
use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{ACCOUNT, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn audiences() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, "Builder/ListAudiences", json!({ "projectId": 1 })).await;
    said.call(a, "Builder/CreateAudience", json!({ "projectId": 1, "name": "Early" })).await;
    said.call(a, "Builder/CreateAudience", json!({ "name": "Late" })).await;
    said.call(a, "Builder/CreateAudience", json!({ "name": "Early" })).await;
    app.clock.advance(60);
    said.call(a, "Builder/UpdateAudience", json!({ "audienceId": 2, "name": "Latest" })).await;
    said.call(a, "Builder/UpdateAudience", json!({ "audienceId": 2, "name": "Early" })).await;
    said.call(a, "Builder/ListAudiences", json!({})).await;
    said.call(a, "Builder/DeleteAudience", json!({ "audienceId": 2 })).await;
    said.call(a, "Builder/GetAudience", json!({ "audienceId": 2 })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn contacts() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let contract = AudienceContractInput {
        chain: ChainId(137),
        address: RELICS.parse().unwrap(),
        name: "Relics".to_owned(),
        contract_type: "ERC1155_ITEMS".to_owned(),
        source: ContractSource::Sale,
        items_contract_address: Some(UNKNOWN.parse().unwrap()),
        abi: "[]".to_owned(),
        bytecode: "0x".to_owned(),
        bytecode_hash: "0xabcd".to_owned(),
    };
    let other = AudienceContractInput {
        address: UNKNOWN.parse().unwrap(),
        source: ContractSource::Linked,
        items_contract_address: None,
        ..contract.clone()
    };
    let contracts = vec![contract, other];
    let import = AudienceImport { name: "Early".parse().unwrap(), contacts: Vec::new(), contracts };
    app.store.import_audience(a.scope, import, app.now()).await.unwrap();
    let contacts = json!([
        { "name": "Ann", "address": ACCOUNT, "email": "ann@mail.example" },
        { "address": "0x00000000000000000000000000000000000000C2" },
    ]);
    said.call(a, "Builder/AddAudienceContacts", json!({ "audienceId": 1, "contacts": contacts })).await;
    app.clock.advance(60);
    let again = json!([{ "name": "Anne", "address": ACCOUNT, "email": "" }]);
    said.call(a, "Builder/AddAudienceContacts", json!({ "audienceId": 1, "contacts": again })).await;
    said.call(a, "Builder/GetAudience", json!({ "projectId": 1, "audienceId": 1 })).await;
    said.call(a, "Builder/RemoveAudienceContacts", json!({ "audienceId": 1, "contactIds": [1, 404] })).await;
    said.call(a, "Builder/GetAudience", json!({ "audienceId": 1 })).await;
    insta::assert_snapshot!(said.text());
}
