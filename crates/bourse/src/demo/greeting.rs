//! What the demo prints: where it is, how to get in, and one call per service that works.

use bourse_wire::Day;

use super::credentials::Credentials;

/// Days that the printed chart shows.
const CHART_DAYS: i32 = 30;

pub(super) fn text(credentials: &Credentials, trial_key: &str, today: Day) -> String {
    let Credentials { metadata_url, api_url, marketplace_url, access_key, secret_token, .. } = credentials;
    let project = credentials.project_id;
    let first_day = Day::from_number(today.number() - CHART_DAYS + 1);
    let contract = credentials.contracts.first().map_or("", |contract| contract.address.as_str());
    let curl = |path: &str, credential: &str, body: &str| {
        format!(
            "curl -s {path} \\\n  -H 'Content-Type: application/json' -H '{credential}' \\\n  -d '{body}'\n"
        )
    };
    let key = format!("X-Access-Key: {access_key}");
    let token = format!("Authorization: Bearer {secret_token}");
    let calls = [
        curl(
            &format!("{metadata_url}/rpc/Metadata/GetTokenMetadataBatch"),
            &key,
            &format!(
                r#"{{"chainID":"{}","contractTokenMap":{{"{contract}":["1","2"]}}}}"#,
                credentials.network
            ),
        ),
        curl(
            &format!("{metadata_url}/rpc/Collections/GetToken"),
            &token,
            &format!(
                r#"{{"projectId":{project},"collectionId":{},"tokenId":"1"}}"#,
                credentials.collection_id
            ),
        ),
        curl(
            &format!("{api_url}/rpc/Builder/GetAudience"),
            &key,
            &format!(r#"{{"projectId":{project},"audienceId":{}}}"#, credentials.audience_id),
        ),
        curl(
            &format!("{marketplace_url}/rpc/Marketplace/ListCollectibles"),
            &key,
            &format!(r#"{{"contractAddress":"{contract}","side":"listing","page":{{"pageSize":2}}}}"#),
        ),
        curl(
            &format!("{api_url}/rpc/Analytics/WalletsDaily"),
            &token,
            &format!(r#"{{"filter":{{"startDate":"{first_day}","endDate":"{today}"}}}}"#),
        ),
    ];
    format!(
        "\nThe demo is at {api_url} (reference: {api_url}/docs), and its shop at {api_url}/shop.\n\n\
        Project        {project}\n\
        Access key     {access_key}\n\
        Secret token   {secret_token}\n\
        Trial key      {trial_key} (reads only, for everybody)\n\
        Contracts      {}\n\n\
        One call per service:\n\n{}\n\
        Nothing of this is on a chain. With a development chain, such as anvil, there is more to try: bourse demo --node \
        http://127.0.0.1:8545\n",
        credentials
            .contracts
            .iter()
            .map(|contract| format!("{} ({})", contract.address, contract.r#type))
            .collect::<Vec<_>>()
            .join("\n               "),
        calls.join("\n")
    )
}
