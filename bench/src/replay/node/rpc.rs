//! Requests and answers of the node.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::call::call;
use super::filter::Filter;
use super::record::{BLOCKS_MAX, LOGS_MAX, Record, Refusal};
use crate::replay::chain::{CHAIN_ID, is_contract};
use crate::replay::hex::{parse_data, parse_quantity, quantity};

/// A request that the node does not fulfil.
#[derive(Debug)]
struct Fault {
    code: i32,
    message: String,
}

impl Fault {
    fn invalid(message: impl Into<String>) -> Self {
        Self { code: -32_602, message: message.into() }
    }
}

/// The answer to the body of a request, which may be a list.
pub(super) fn answer(record: &Record, body: &[u8]) -> Vec<u8> {
    match serde_json::from_slice(body) {
        Ok(Value::Array(requests)) if !requests.is_empty() => {
            let answers: Vec<Vec<u8>> = requests.iter().map(|request| answer_one(record, request)).collect();
            [b"[".as_slice(), &answers.join(&b','), b"]"].concat()
        }
        Ok(request @ Value::Object(_)) => answer_one(record, &request),
        Ok(_) => failed(&Value::Null, &Fault { code: -32_600, message: "invalid request".to_owned() }),
        Err(error) => failed(&Value::Null, &Fault { code: -32_700, message: error.to_string() }),
    }
}

fn answer_one(record: &Record, request: &Value) -> Vec<u8> {
    let id = &request["id"];
    match result(record, request["method"].as_str().unwrap_or_default(), &request["params"]) {
        Ok(result) => {
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
            let mut text = Vec::with_capacity(head.len() + result.len() + 1);
            text.extend_from_slice(head.as_bytes());
            text.extend_from_slice(&result);
            text.push(b'}');
            text
        }
        Err(fault) => failed(id, &fault),
    }
}

fn failed(id: &Value, fault: &Fault) -> Vec<u8> {
    let error = json!({ "code": fault.code, "message": fault.message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
}

/// The result, as text.
fn result(record: &Record, method: &str, parameters: &Value) -> Result<Vec<u8>, Fault> {
    let text = |text: &str| Ok(json!(text).to_string().into_bytes());
    match method {
        "eth_chainId" => text(&quantity(CHAIN_ID)),
        "net_version" => text(&CHAIN_ID.to_string()),
        "web3_clientVersion" => text("bourse-bench/replay"),
        "eth_blockNumber" => text(&quantity(record.head())),
        "eth_syncing" => Ok(b"false".to_vec()),
        "eth_getBlockByNumber" => {
            let number = block_number(record, &parameters[0])?;
            Ok(block(record, Some(number), &parameters[1]))
        }
        "eth_getBlockByHash" => {
            let hash = parameters[0].as_str().and_then(parse_data);
            let hash = hash.ok_or_else(|| Fault::invalid("invalid block hash"))?;
            Ok(block(record, record.number_of(&hash), &parameters[1]))
        }
        "eth_getBlockReceipts" => {
            let hash = parameters[0].as_str().and_then(parse_data);
            let hash = hash.ok_or_else(|| Fault::invalid("invalid block hash"))?;
            let receipts = record.number_of(&hash).and_then(|number| record.receipts(number));
            Ok(receipts.unwrap_or_else(|| b"null".to_vec()))
        }
        "eth_getLogs" => logs(record, &parameters[0]),
        "eth_getCode" => {
            let address = parameters[0].as_str().and_then(parse_data);
            let address = address.ok_or_else(|| Fault::invalid("invalid address"))?;
            text(if is_contract(address) { "0x60016001" } else { "0x" })
        }
        "eth_call" => match call(&parameters[0]) {
            Some(answer) => text(&answer),
            None => Err(Fault { code: 3, message: "execution reverted".to_owned() }),
        },
        _ => Err(Fault { code: -32_601, message: format!("the method {method} does not exist") }),
    }
}

fn block(record: &Record, number: Option<u64>, is_full: &Value) -> Vec<u8> {
    let is_full = is_full.as_bool().unwrap_or(false);
    let text = number.and_then(|number| record.block(number, is_full));
    text.map_or_else(|| b"null".to_vec(), String::into_bytes)
}

fn logs(record: &Record, asked: &Value) -> Result<Vec<u8>, Fault> {
    let filter = Filter::parse(asked).ok_or_else(|| Fault::invalid("invalid filter"))?;
    let blocks = blocks(record, asked)?;
    // The words are those of a node that many run, so that clients know them.
    record.logs(blocks, &filter).map_err(|refusal| match refusal {
        Refusal::Blocks => Fault::invalid(format!("query exceeds max block range {BLOCKS_MAX}")),
        Refusal::Logs(enough) => Fault::invalid(format!(
            "query exceeds max results {LOGS_MAX}, retry with the range {}-{}",
            enough.start(),
            enough.end()
        )),
    })
}

/// The blocks that logs are asked of: a range of numbers, or the one with a name.
fn blocks(record: &Record, asked: &Value) -> Result<RangeInclusive<u64>, Fault> {
    if let Some(hash) = asked["blockHash"].as_str() {
        let number = parse_data(hash).and_then(|hash| record.number_of(&hash));
        let number = number.ok_or_else(|| Fault { code: -32_000, message: "unknown block".to_owned() })?;
        return Ok(number..=number);
    }
    let (from, to) = (block_number(record, &asked["fromBlock"])?, block_number(record, &asked["toBlock"])?);
    if from > to {
        return Err(Fault::invalid("invalid block range params"));
    }
    Ok(from..=to)
}

/// A number, or the word for one; the newest block when nothing is said.
fn block_number(record: &Record, value: &Value) -> Result<u64, Fault> {
    match value.as_str() {
        None if value.is_null() => Ok(record.head()),
        Some("latest" | "pending" | "safe" | "finalized") => Ok(record.head()),
        Some("earliest") => Ok(0),
        Some(text) => parse_quantity(text).ok_or_else(|| Fault::invalid("invalid block number")),
        None => Err(Fault::invalid("invalid block number")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Record, answer};
    use crate::replay::chain::Chain;
    use crate::replay::event::{MARKET, RELICS};
    use crate::replay::hex::{data, quantity};

    fn ask(record: &Record, body: &Value) -> Value {
        serde_json::from_slice(&answer(record, body.to_string().as_bytes())).unwrap()
    }

    fn result(record: &Record, method: &str, parameters: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters });
        let answer = ask(record, &body);
        assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!(7), &json!("2.0")));
        assert_eq!(answer["error"], Value::Null);
        answer["result"].clone()
    }

    #[test]
    fn the_chain_and_its_blocks() {
        let record = Record::new(Chain::new(500));
        let head = quantity(record.head());
        assert_eq!(result(&record, "eth_chainId", &json!([])), "0x7a69");
        assert_eq!(result(&record, "net_version", &json!([])), "31337");
        assert_eq!(result(&record, "eth_blockNumber", &Value::Null), head.as_str());
        let latest = result(&record, "eth_getBlockByNumber", &json!(["latest", false]));
        assert_eq!(latest["number"], head.as_str());
        let by_hash = result(&record, "eth_getBlockByHash", &json!([latest["hash"], false]));
        assert_eq!(by_hash, latest);
        assert_eq!(result(&record, "eth_getBlockByNumber", &json!(["0xffffff", true])), Value::Null);
        assert_eq!(result(&record, "eth_getCode", &json!([data(&RELICS), "latest"])), "0x60016001");
        assert_eq!(result(&record, "eth_getCode", &json!([data(&[1; 20]), "latest"])), "0x");
    }

    #[test]
    fn logs_of_a_range_and_of_a_block() {
        let record = Record::new(Chain::new(500));
        let of_range = result(&record, "eth_getLogs", &json!([{ "fromBlock": "0x5", "toBlock": "0x5" }]));
        assert!(!of_range.as_array().unwrap().is_empty());
        let hash = &of_range[0]["blockHash"];
        assert_eq!(result(&record, "eth_getLogs", &json!([{ "blockHash": hash }])), of_range);
        let asked = json!([{ "fromBlock": "earliest", "toBlock": "latest", "address": data(&MARKET) }]);
        let of_market = result(&record, "eth_getLogs", &asked);
        assert!(of_market.as_array().unwrap().iter().all(|log| log["address"] == data(&MARKET)));
    }

    #[test]
    fn lists_of_requests_and_faults() {
        let record = Record::new(Chain::new(100));
        let request = |id: u64, method: &str| json!({ "id": id, "method": method, "params": [] });
        let answers = ask(&record, &json!([request(1, "eth_chainId"), request(2, "eth_mine")]));
        assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(1), &json!("0x7a69")));
        assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(2), &json!(-32_601)));
        let range = json!({ "fromBlock": "0x0", "toBlock": "0x2710" });
        let refused = ask(&record, &json!({ "id": 3, "method": "eth_getLogs", "params": [range] }));
        assert_eq!(refused["error"]["message"], "query exceeds max block range 10000");
        assert_eq!(ask(&record, &json!([]))["error"]["code"], -32_600);
        let refused: Value = serde_json::from_slice(&answer(&record, b"{")).unwrap();
        assert_eq!(refused["error"]["code"], -32_700);
        let reverted = ask(&record, &json!({ "id": 4, "method": "eth_call", "params": [{}] }));
        assert_eq!(reverted["error"]["code"], 3);
    }
}
