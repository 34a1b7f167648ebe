//! A chain of the test's own: an anvil node with our contracts on it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use alloy_primitives::{U256, hex};
use alloy_sol_types::{SolCall, SolValue, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::http::{Exchange, head};
use crate::instance::{free_port, within};
use crate::process::{Process, WAIT_MAX, clean_command};

/// The chain that a node is of unless told otherwise.
const CHAIN: u64 = 31_337;
/// How many accounts it signs for unless told otherwise.
const ACCOUNTS: usize = 10;
/// How many blocks back the node of a long campaign knows the state of. Without it the node moves those older than 500 to files,
/// and forgets contracts when it replaces blocks after that. Each takes it megabytes.
const CAMPAIGN_STATES: u64 = 200;

sol! {
    function mint(address to, uint256 tokenId);
    function burn(uint256 tokenId);
    function ownerOf(uint256 tokenId) returns (address);
    function balanceOf(address owner) returns (uint256);
    function approve(address spender, uint256 amount);
    function setApprovalForAll(address operator, bool approved);
    function setDefaultRoyalty(address recipient, uint96 fee);
    function setTokenRoyalty(uint256 tokenId, address recipient, uint96 fee);
    function setRoyaltyInfo(address tokenContract, address recipient, uint96 fee);
    function setSilent(bool isSilent);
    function isRequestValid(uint256 requestId, uint256 quantity) returns (bool valid, bytes32[9] request);
    function setTokenURI(uint256 tokenId, string uri);
    function transfer(address to, uint256 amount);
    function transferFrom(address from, address to, uint256 tokenId);
    function invalidateRequests();

    interface Multi {
        function mint(address to, uint256 tokenId, uint256 amount);
        function balanceOf(address owner, uint256 tokenId) returns (uint256);
        function safeTransferFrom(address from, address to, uint256 tokenId, uint256 amount, bytes data);
    }
}

/// A node that makes a block of every transaction at once.
pub(crate) struct Anvil {
    _process: Process,
    pub(crate) port: u16,
}

impl Anvil {
    /// Starts one; what it prints goes to files in a directory.
    pub(crate) fn start(directory: &Path) -> Self {
        Self::start_as(CHAIN, directory)
    }

    /// Starts one that says it is of this chain.
    pub(crate) fn start_as(chain: u64, directory: &Path) -> Self {
        Self::start_with(chain, ACCOUNTS, directory)
    }

    /// Starts one that says it is of this chain, and signs for so many accounts.
    pub(crate) fn start_with(chain: u64, accounts: usize, directory: &Path) -> Self {
        let port = free_port();
        let mut command = clean_command(&program().display().to_string(), directory);
        command.args(["--silent", "--port", &port.to_string(), "--chain-id", &chain.to_string()]);
        command.args(["--accounts", &accounts.to_string()]);
        if crate::trader::campaign().is_some() {
            command.args(["--prune-history", &CAMPAIGN_STATES.to_string()]);
        }
        let process = Process::start(command, &directory.join("anvil"));
        let anvil = Self { _process: process, port };
        within(WAIT_MAX, "the node answers", || anvil.try_rpc("eth_chainId", &json!([])).is_some());
        anvil
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// One of the accounts that it signs for.
    pub(crate) fn account(&self, number: usize) -> Address {
        self.rpc("eth_accounts", &json!([]))[number].as_str().unwrap().parse().unwrap()
    }

    /// The result of a method that must succeed.
    pub(crate) fn rpc(&self, method: &str, params: &Value) -> Value {
        let answer = self.try_rpc(method, params).unwrap_or_else(|| panic!("{method}: no answer"));
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn try_rpc(&self, method: &str, params: &Value) -> Option<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut exchange = Exchange::open(self.port).ok()?;
        let headers = ["Content-Type: application/json".to_owned()];
        exchange.send(&format!("{}{body}", head("POST", "/", &headers, body.len()))).ok()?;
        serde_json::from_str(&exchange.answer().ok()?.body).ok()
    }

    /// Deploys a contract with its constructor's arguments.
    pub(crate) fn deploy(&self, name: &str, arguments: &[u8]) -> Address {
        let path = contracts().join("artifacts").join(format!("{name}.json"));
        let artifact = std::fs::read_to_string(&path);
        let artifact = artifact.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let artifact: Value = serde_json::from_str(&artifact).unwrap();
        self.create(artifact["bytecode"].as_str().unwrap(), arguments)
    }

    /// Deploys a contract of another marketplace.
    pub(crate) fn deploy_foreign(&self, name: &str, arguments: &[u8]) -> Address {
        let path = contracts().join("venues/out").join(format!("{name}.bin"));
        let code = std::fs::read_to_string(&path);
        let code =
            code.unwrap_or_else(|error| panic!("{}: {error}: run contracts/venues/build", path.display()));
        self.create(&format!("0x{code}"), arguments)
    }

    fn create(&self, code: &str, arguments: &[u8]) -> Address {
        let code = format!("{code}{}", hex::encode(arguments));
        let receipt = self.transact(&json!({ "from": self.account(0), "data": code }));
        receipt["contractAddress"].as_str().unwrap().parse().unwrap()
    }

    /// Puts the code of a contract where another chain has it.
    pub(crate) fn copy_code(&self, contract: Address, to: Address) {
        let code = self.rpc("eth_getCode", &json!([contract, "latest"]));
        self.rpc("anvil_setCode", &json!([to, code]));
    }

    /// Deploys a version of the market.
    pub(crate) fn deploy_market(&self, artifact: &str) -> Address {
        self.deploy(artifact, &alloy_address(self.account(0)).abi_encode())
    }

    /// Deploys a collection of single tokens.
    pub(crate) fn deploy_singles(&self) -> Address {
        self.deploy("TestERC721", &("Relics", "REL").abi_encode_params())
    }

    /// Deploys a collection of tokens with many of each.
    pub(crate) fn deploy_multiples(&self) -> Address {
        self.deploy("TestERC1155", &("Provisions", "PRO", "").abi_encode_params())
    }

    /// Deploys a currency with six decimals.
    pub(crate) fn deploy_currency(&self) -> Address {
        self.deploy("TestERC20", &("Coin", "COIN", U256::from(6)).abi_encode_params())
    }

    /// Sends a call, which must not revert, and returns its receipt.
    pub(crate) fn send(&self, from: Address, to: Address, call: &impl SolCall) -> Value {
        self.transact(&json!({ "from": from, "to": to, "data": hex::encode_prefixed(call.abi_encode()) }))
    }

    /// Performs the steps that the service told, in their order; tells what that cost besides what they pay.
    pub(crate) fn perform(&self, from: Address, steps: &Value) -> U256 {
        let perform = |step: &Value| {
            let done = self.try_perform(from, step);
            done.unwrap_or_else(|why| panic!("reverted: {step} {why}"))
        };
        steps.as_array().unwrap().iter().map(perform).sum()
    }

    /// Performs one step; tells what that cost besides what it pays, or why the chain refused it.
    pub(crate) fn try_perform(&self, from: Address, step: &Value) -> Result<U256, String> {
        let value: U256 = step["value"].as_str().unwrap().parse().unwrap();
        let receipt = self.try_transact(&json!({
            "from": from, "to": step["to"], "data": step["data"], "value": format!("{value:#x}"),
        }))?;
        Ok(number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"]))
    }

    /// Whether the chain would refuse a step as things are.
    pub(crate) fn refuses(&self, from: Address, step: &Value) -> bool {
        let value: U256 = step["value"].as_str().unwrap().parse().unwrap();
        let call =
            json!({ "from": from, "to": step["to"], "data": step["data"], "value": format!("{value:#x}") });
        self.try_rpc("eth_call", &json!([call, "latest"])).unwrap().get("error").is_some()
    }

    fn transact(&self, transaction: &Value) -> Value {
        let done = self.try_transact(transaction);
        done.unwrap_or_else(|why| panic!("reverted: {transaction} {why}"))
    }

    /// The receipt of a transaction, or why there is none that succeeded.
    fn try_transact(&self, transaction: &Value) -> Result<Value, String> {
        let sent = self.try_rpc("eth_sendTransaction", &json!([transaction])).unwrap();
        // A node that finds that it fails does not send it.
        let hash = sent.get("result").ok_or_else(|| sent["error"].to_string())?;
        let mut receipt = Value::Null;
        within(WAIT_MAX, "the transaction is in a block", || {
            receipt = self.rpc("eth_getTransactionReceipt", &json!([hash]));
            !receipt.is_null()
        });
        if receipt["status"] != "0x1" {
            let why = self.try_rpc("eth_call", &json!([transaction, "latest"]));
            return Err(format!("{why:?}"));
        }
        Ok(receipt)
    }

    /// Asks a contract.
    pub(crate) fn ask<C: SolCall>(&self, contract: Address, call: &C) -> C::Return {
        let call = json!({ "to": contract, "data": hex::encode_prefixed(call.abi_encode()) });
        let answer = self.rpc("eth_call", &json!([call, "latest"]));
        C::abi_decode_returns(&hex::decode(answer.as_str().unwrap()).unwrap()).unwrap()
    }

    /// How much of the native currency an account has.
    pub(crate) fn native_balance(&self, account: Address) -> U256 {
        number(&self.rpc("eth_getBalance", &json!([account, "latest"])))
    }

    /// How much of a currency an account has.
    pub(crate) fn balance(&self, currency: Address, account: Address) -> U256 {
        self.ask(currency, &balanceOfCall { owner: alloy_address(account) })
    }

    /// Makes blocks without transactions.
    pub(crate) fn mine(&self, blocks: u64) {
        self.rpc("anvil_mine", &json!([format!("{blocks:#x}")]));
    }

    /// Replaces the newest blocks by others without transactions.
    pub(crate) fn reorganise(&self, depth: u64) {
        self.replace(depth, &json!([]));
    }

    /// Replaces the newest blocks, of which the first has one transaction, by others in which that comes a block later.
    pub(crate) fn delay(&self, depth: u64) {
        let first = number(&self.rpc("eth_blockNumber", &json!([]))) - U256::from(depth - 1);
        let block = self.rpc("eth_getBlockByNumber", &json!([format!("{first:#x}"), false]));
        let transaction = self.rpc("eth_getRawTransactionByHash", &json!([block["transactions"][0]]));
        self.replace(depth, &json!([[transaction, 1]]));
    }

    /// Replaces the newest blocks by others with transactions, of which each says in which of them it is.
    fn replace(&self, depth: u64, transactions: &Value) {
        self.rpc("anvil_reorg", &json!([depth, transactions]));
        // The node puts its clock back to the blocks that were replaced. What is lost with each adds up in a long campaign,
        // until orders end minutes later on the chain than by the clock of the service.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.rpc("evm_setTime", &json!([now.as_secs()]));
    }
}

/// The address as the encoder takes it.
pub(crate) fn alloy_address(address: Address) -> alloy_primitives::Address {
    alloy_primitives::Address::from(*address.bytes())
}

fn number(value: &Value) -> U256 {
    value.as_str().unwrap().parse().unwrap()
}

fn contracts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts")
}

/// The program that `contracts/check` installs.
fn program() -> PathBuf {
    let path = contracts().join("node_modules/.bin/anvil");
    assert!(path.is_file(), "no anvil at {}: run contracts/check, or ./test", path.display());
    path
}
