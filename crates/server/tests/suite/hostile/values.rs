//! What nobody should send, and somebody will.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::builder::proof;
use crate::marketplace::ANA;
use crate::support::seed::{ACCOUNT, RELICS};
use crate::venues::first_of;

/// Values that have broken something somewhere.
pub(super) static HARD: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let texts = [
        "",
        "0",
        "-1",
        "1e9",
        "null",
        "\u{0}",
        "a\u{0}b",
        "\u{202e}\u{feff}",
        "👨‍👩‍👧‍👦",
        "e\u{301}",
        "'; DROP TABLE tokens; --",
        "%00",
        "../../etc/passwd",
        "$1 ?1 {}",
        "polygon",
        RELICS,
        "0x",
        "99999999999999999999",
        "9223372036854775807",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        "\u{10ffff}\r\n",
    ];
    let numbers =
        ["0", "-0", "-1", "1.5", "1e400", "-1E-400", "9223372036854775808", "18446744073709551616", "1e3"];
    let mut values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    values.extend(numbers.iter().map(|text| serde_json::from_str(text).unwrap()));
    values.extend([json!(null), json!(true), json!([]), json!({}), json!([[], {}, null]), deep]);
    values.extend([json!({ "$serde_json::private::Number": "x" }), json!("x".repeat(300_000))]);
    values
});

const HASH: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// The second of the service's own marketplaces.
const OWN: &str = "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712";

/// A body that each operation takes.
#[expect(clippy::too_many_lines, reason = "one list of everything that operations read")]
pub(crate) fn valid_body(operation: &str) -> Value {
    let link = json!({ "chainId": "137", "contractAddress": RELICS, "collectionId": 1 });
    let token = json!({
        "tokenId": "5", "name": "n", "description": "d", "image": "i", "properties": { "a": 1 },
        "attributes": [{ "b": "c" }], "decimals": 3, "updatedAt": "2024-01-01T00:00:00Z",
    });
    let metadata =
        json!({ "name": "n", "externalLink": "l", "properties": { "a": 1 }, "attributes": [{ "b": 2 }] });
    let collection = json!({ "id": 1, "metadata": metadata, "private": false });
    let asset =
        json!({ "id": 1, "collectionId": 1, "tokenId": "1", "metadataField": "image", "filename": "f" });
    let contacts = json!([{ "name": "n", "address": ACCOUNT, "email": "a@b.cd" }]);
    // Other lists come in one order.
    let is_sorted = operation.starts_with("Marketplace/List")
        && !operation.ends_with("Activities")
        && !operation.ends_with("SaleItems");
    let sort = if is_sorted { json!([{ "column": "price", "order": "DESC" }]) } else { json!([]) };
    let page = json!({ "page": 1, "pageSize": 2, "after": null, "sort": sort });
    let tokens = json!([{ "chainId": 137, "contractAddress": RELICS, "tokenId": "9", "name": "n", "properties": { "a": 1 } }]);
    let contracts = json!([{ "chainId": 137, "address": ACCOUNT, "contractType": "ERC721", "name": "n", "decimals": 3,
        "extensions": { "originChainId": 1, "originAddress": RELICS, "featured": true, "blacklist": false } }]);
    let balances = json!([{ "contractAddress": RELICS, "tokenId": "9", "account": ACCOUNT, "balance": "1" }]);
    let currencies = json!([{ "contractAddress": RELICS, "name": "n", "symbol": "s", "decimals": 18,
        "exchangeRate": "0.25" }]);
    let fees = json!([{ "kind": "royalty", "recipientAddress": ACCOUNT, "bps": 250 }]);
    let orders = json!([{ "orderId": "1", "marketplace": "opensea", "side": "listing", "chainId": "137",
        "collectionContractAddress": RELICS, "tokenId": "1", "createdBy": ACCOUNT, "priceAmount": "1",
        "priceCurrencyAddress": RELICS, "quantityInitial": "2", "quantityRemaining": "1", "quantityDecimals": 0,
        "feeBreakdown": fees, "validFrom": "2024-01-01T00:00:00Z", "validUntil": "2030-01-01T00:00:00Z",
        "blockNumber": 1, "updatedAt": "2024-01-01T00:00:00Z" }]);
    let native = first_of("seaport", "a token for the chain's own currency");
    let execution = json!({ "chainId": 1, "signature": native["signature"], "body": native });
    let more = (operation == "Ingest/PutOrders").then_some(native);
    let orders: Value = orders.as_array().unwrap().iter().cloned().chain(more).collect();
    let property = json!({ "name": "n", "type": "INT", "min": 1, "max": 2, "values": [1, "a", true] });
    let price = json!({ "contractAddress": RELICS, "min": "1", "max": "2" });
    let filter = json!({ "text": "n", "searchText": "n", "includeEmpty": true, "properties": [property], "prices": [price],
        "marketplaces": ["opensea"], "inAccounts": [ACCOUNT], "notInAccounts": [ACCOUNT], "ordersCreatedBy": [ACCOUNT],
        "ordersNotCreatedBy": [ACCOUNT], "inCurrencyAddresses": [RELICS], "notInCurrencyAddresses": [RELICS],
        "createdBy": [ACCOUNT], "marketplace": ["opensea"], "currencies": [RELICS],
        "detailTypes": ["global"], "startDateAfter": "2024-01-01T00:00:00Z", "startDateBefore": "2030-01-01T00:00:00Z",
        "endDateAfter": "2024-01-01T00:00:00Z", "endDateBefore": "2050-01-01T00:00:00Z" });
    let days = json!({ "projectId": 1, "startDate": "2025-01-01", "endDate": "2025-03-14", "dateInterval": "WEEK",
        "fill": true });
    let filter = if operation.starts_with("Analytics/") { days } else { filter };
    let held = json!({ "accountAddresses": [ACCOUNT], "contractAddresses": [RELICS], "contractStatus": "ALL",
        "contractTypes": ["ERC1155"], "contractWhitelist": [RELICS], "contractBlacklist": [ACCOUNT],
        "omitNativeBalances": false, "omitPrices": false, "tokenIDs": ["1"], "txnHash": HASH, "from": ACCOUNT,
        "to": ACCOUNT, "contractAddress": RELICS, "event": HASH, "accountAddress": ACCOUNT, "transactionHashes": [HASH],
        "metaTransactionIDs": [], "fromBlock": 0, "toBlock": 9, "tokenID": "1", "isListing": true,
        "userAddresses": [ACCOUNT], "excludeUserAddresses": [ANA], "currencyAddresses": [RELICS], "orderIds": ["1"],
        "tokenIds": ["1"], "blockNumberGt": 0, "createdAtAfter": 0, "orderStatuses": ["OPEN"], "returnExpired": true,
        "priceSort": "ASC", "excludeUser": ANA, "events": ["sale"], "accounts": [ACCOUNT] });
    let is_of_balances = operation.starts_with("Indexer");
    let (page, filter) =
        if is_of_balances { (json!({ "page": 1, "pageSize": 2 }), held) } else { (page, filter) };
    let filter = known_of(properties_of(operation).get("filter"), filter);
    let events = json!([{ "wallet": ACCOUNT, "kind": "market", "at": "2025-03-14T00:00:00Z", "id": "1",
        "properties": { "action": "buy" } }]);
    let names = json!([{ "contractAddress": RELICS, "orderId": "1", "marketplace": "opensea" }]);
    let id = if operation == "Marketplace/GenerateSellTransaction" { "2" } else { "1" };
    let data = json!([{ "orderId": id, "quantity": "1", "tokenId": "1" }]);
    let shares =
        json!([{ "amount": "250", "receiver": ACCOUNT }, { "amountInBaseUnits": "1", "receiver": ACCOUNT }]);
    let new = json!({ "tokenId": "1", "quantity": "1", "expiry": "1893456000", "currencyAddress": RELICS,
        "pricePerToken": "5" });
    let orders = if operation == "Marketplace/CheckoutOptionsMarketplace" { names.clone() } else { orders };
    let mut body = json!({
        "projectId": 1, "chainID": "137", "contractAddress": RELICS, "contractAddresses": [RELICS],
        "contractTokenMap": { RELICS: ["1", "2"] }, "tokenIDs": ["1", 2], "collectionId": 1, "tokenId": "1",
        "assetId": 1, "audienceId": 1, "taskId": 1, "refreshAll": false, "chainHandle": "137", "name": format!("for {operation}"), "contactIds": [1, 2], "recursive": true,
        "private": true, "token": token, "collection": collection, "asset": asset, "contacts": contacts,
        "contractCollection": link, "page": page, "side": "listing", "filter": filter, "excludeProperties": ["n"],
        "excludePropertyValues": true, "includeCounts": true, "tokens": tokens, "contracts": contracts, "balances": balances,
        "currencies": currencies, "orders": orders, "reason": "r", "input": names, "q": "n", "chainIDs": [137],
        "types": ["ERC721"],
    });
    for (member, value) in
        [("batchId", json!(format!("of {operation}"))), ("events", events), ("days", json!(7))]
    {
        body[member] = value;
    }
    let market = json!({ "chainId": 137, "itemsAddress": RELICS, "hidden": false, "feePercentage": 2.5, "sortOrder": 1,
        "currencyOptions": [RELICS], "destinationMarketplace": "opensea", "bannerUrl": "https://a.example", "private": true,
        "filterSettings": { "filterOrder": ["n"], "exclusions": [{ "key": "n", "condition": "SPECIFIC_VALUE", "value": "v" }] } });
    let shop = json!({ "chainId": 137, "itemsAddress": RELICS, "saleAddress": ACCOUNT, "name": "n", "tokenIds": ["1"] });
    let wallets = json!({ "walletType": "EMBEDDED", "oidcIssuers": { "a": "b" }, "connectors": ["c"],
        "embedded": { "tenantKey": "k", "providers": [{ "iss": "i", "aud": "a" }] } });
    let settings = json!({ "style": { "a": [1] }, "title": "t", "socials": { "discord": "d" }, "walletOptions": wallets });
    let storefront = json!({ "domain": "shop.example", "settings": settings, "market": { "enabled": true },
        "marketCollections": [market], "shopCollections": [shop] });
    let asked = json!({ "order": body["orders"][0], "domain": "shop.example", "userAddress": ACCOUNT,
        "storefront": storefront });
    let Value::Object(asked) = asked else { unreachable!("it is an object") };
    body.as_object_mut().unwrap().extend(asked);
    // Orders of our own marketplaces pay nobody but who sells.
    let is_new = ["Marketplace/GenerateListingTransaction", "Marketplace/GenerateOfferTransaction"];
    let shares = if is_new.contains(&operation) { json!([]) } else { shares };
    let trade = json!({
        "collectionAddress": RELICS, "buyer": ACCOUNT, "seller": ACCOUNT, "owner": ACCOUNT, "maker": ANA,
        "wallet": ACCOUNT, "marketplace": "service_marketplace_v2", "orderbook": "service_marketplace_v2",
        "ordersData": data, "additionalFees": shares, "additionalFee": 250, "walletType": "unknown", "offerType": "item", "useWithTrails": false,
        "primarySaleContractAddress": RELICS, "items": [{ "tokenId": "1", "quantity": "1" }],
        "contractType": "ERC1155", "listing": new, "offer": new, "orderId": "1", "params": execution,
    });
    let balances = json!({
        "accountAddress": ACCOUNT, "includeMetadata": true, "includeCollectionTokens": true, "omitMetadata": false,
        "metadataOptions": { "verifiedOnly": false, "unverifiedOnly": false, "includeContracts": [RELICS] },
        "tokenMap": { RELICS: ["1"] }, "lastTokenID": "1", "lastBlockNumber": 0, "txnHash": HASH, "maxBlockWait": 0, "omitPrices": false,
        "chainIds": ["137"], "networks": ["amoy"], "networkType": "ALL",
    });
    let directory = json!({ "cursor": "0.0", "query": "n", "includeTestnets": true, "onlyFeatured": false });
    let purpose = if operation == "Builder/RegisterAudienceContact" { "sign up" } else { "read my entry" };
    let said = if purpose == "sign up" { "Name: n\nE-mail: a@b.cd\n" } else { "" };
    let proof = proof((7, 1, 1), purpose, said);
    let contact = json!({ "address": proof["address"], "name": "n", "email": "a@b.cd" });
    let registration = json!({ "contact": contact, "walletProof": proof, "walletAddress": ACCOUNT,
        "registrationOpen": true });
    let of_token = json!({ "contractAddress": RELICS, "tokenID": "1" });
    let of_chain = json!({ "chainID": 137, "queries": [of_token] });
    let prices = match operation {
        "Indexer/GetTokenPrice" => json!({ "q": of_token }),
        "Indexer/GetTokenPrices" => json!({ "q": [of_token] }),
        "IndexerGateway/GetTokenPrice" => json!({ "q": of_chain }),
        "IndexerGateway/GetTokenPrices" => json!({ "q": [of_chain] }),
        _ => json!({}),
    };
    let told = json!({ "events": ["sale", "Transfer(address,address,uint256)"], "contractAddresses": [RELICS],
        "accounts": [ACCOUNT], "tokenIDs": ["1"] });
    let listener = json!({ "id": 1, "projectID": 1, "url": "https://a.example", "filters": told, "name": "n",
        "active": true });
    let webhooks = json!({ "id": 1, "url": "https://a.example", "filters": told, "listener": listener });
    let book = json!({ "marketplaceContractAddress": OWN, "orderbookContractAddress": OWN, "currencyAddresses": [RELICS],
        "orderStatuses": ["OPEN"], "beforeExpiryTimestamp": 1, "isListing": true, "priceSort": "ASC", "excludeUser": ANA });
    for more in [trade, balances, directory, registration, prices, webhooks, book] {
        let Value::Object(more) = more else { unreachable!("it is an object") };
        body.as_object_mut().unwrap().extend(more);
    }
    if operation == "Indexer/GetOrderbookOrders" {
        body["filters"] = json!([{ "isListing": true, "userAddress": ACCOUNT, "excludeUserAddress": ANA, "tokenIds": ["1"] }]);
    }
    body
}

pub(super) fn any_json() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        4 => any::<Index>().prop_map(|index| index.get(&HARD).clone()),
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => vec(any::<char>(), 0..12).prop_map(|letters| json!(String::from_iter(letters))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![
            select(vec!["name", "tokenId", "chainId", "", "\u{0}", "__proto__"]).prop_map(str::to_owned),
            ".{0,4}"
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A change to a valid body: which members to walk down, and what to put there; nothing takes the member away.
pub(super) type Mutation = (Vec<Index>, Option<Value>);

pub(super) fn mutate(value: &mut Value, (path, with): &Mutation) {
    let (Some((first, rest)), false) = (path.split_first(), is_leaf(value)) else {
        *value = with.clone().unwrap_or_default();
        return;
    };
    let deeper = (rest.to_vec(), with.clone());
    match value {
        Value::Object(members) => {
            let name = members.keys().nth(first.index(members.len())).unwrap().clone();
            if rest.is_empty() && with.is_none() {
                members.remove(&name);
            } else {
                mutate(&mut members[&name], &deeper);
            }
        }
        Value::Array(items) => {
            let index = first.index(items.len());
            mutate(&mut items[index], &deeper);
        }
        _ => unreachable!("leaves were told apart"),
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

#[derive(Clone, Debug)]
pub(super) enum Sent {
    Bytes(Vec<u8>),
    Json(Value),
    Mutated(Vec<Mutation>),
    /// A valid body as text, cut off and with some bytes changed.
    Torn(Index, Vec<(Index, u8)>),
}

pub(super) fn any_body() -> impl Strategy<Value = Sent> {
    let mutation = (vec(any::<Index>(), 1..4), proptest::option::weighted(0.9, any_json()));
    prop_oneof![
        1 => vec(any::<u8>(), 0..200).prop_map(Sent::Bytes),
        1 => any_json().prop_map(Sent::Json),
        6 => vec(mutation, 1..4).prop_map(Sent::Mutated),
        1 => (any::<Index>(), vec((any::<Index>(), any::<u8>()), 0..4)).prop_map(|(end, changes)| Sent::Torn(end, changes)),
    ]
}

pub(super) fn bytes_of(sent: &Sent, operation: &str) -> Vec<u8> {
    let mut valid = valid_body(operation);
    match sent {
        Sent::Bytes(bytes) => bytes.clone(),
        Sent::Json(value) => value.to_string().into_bytes(),
        Sent::Mutated(mutations) => {
            for mutation in mutations {
                mutate(&mut valid, mutation);
            }
            valid.to_string().into_bytes()
        }
        Sent::Torn(end, changes) => {
            let mut bytes = valid.to_string().into_bytes();
            for (index, byte) in changes {
                let index = index.index(bytes.len());
                bytes[index] = *byte;
            }
            bytes.truncate(end.index(bytes.len() + 1));
            bytes
        }
    }
}

/// Every place in a value, as the members to walk down.
pub(super) fn places(value: &Value) -> Vec<Vec<String>> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    let deeper = inner.into_iter().flat_map(|(name, value)| {
        places(value).into_iter().map(move |rest| [vec![name.clone()], rest].concat())
    });
    std::iter::once(Vec::new()).chain(deeper).collect()
}

/// The members that an operation knows, with their schemas.
fn properties_of(operation: &str) -> &'static Value {
    let body = &bourse_server::document()["paths"][format!("/rpc/{operation}")]["post"]["requestBody"];
    let schema = referred(&body["content"]["application/json"]["schema"]);
    schema.map_or(&Value::Null, |schema| &schema["properties"])
}

/// The schema that another refers to, by itself or as one of several.
fn referred(schema: &Value) -> Option<&'static Value> {
    let several =
        ["anyOf", "allOf", "oneOf"].iter().flat_map(|word| schema[word].as_array().into_iter().flatten());
    let name = std::iter::once(schema).chain(several).find_map(|schema| schema["$ref"].as_str())?;
    Some(&bourse_server::document()["components"]["schemas"][name.rsplit('/').next()?])
}

/// Of an object the members that a schema has: what a filter does not know it refuses.
fn known_of(schema: Option<&Value>, mut object: Value) -> Value {
    if let Some(known) = schema.and_then(referred) {
        let known = known["properties"].as_object().unwrap();
        object.as_object_mut().unwrap().retain(|name, _| known.contains_key(name));
    }
    object
}

/// The members that an operation knows, according to the document.
pub(super) fn known_members(operation: &str) -> Value {
    let known: Vec<&String> =
        properties_of(operation).as_object().into_iter().flat_map(|known| known.keys()).collect();
    let mut body = valid_body(operation);
    body.as_object_mut()
        .unwrap()
        .retain(|name, _| known.iter().any(|known| known.eq_ignore_ascii_case(name)));
    body
}
