//! Which chains things may be tried out on.

use serde_json::{Value, json};

use super::sender::Sender;
use crate::context::CommandError;

/// Ids that tools give to chains of one machine: anvil and hardhat, geth, ganache, and second chains beside them.
const DEVELOPMENT: [u64; 6] = [1337, 1338, 5777, 31337, 31338, 31339];
/// What development nodes call themselves, in small letters.
const TOOLS: [&str; 5] = ["anvil", "hardhat", "ganache", "testrpc", "edr"];

/// What is known of a chain that somebody wants to try things on.
struct Signs {
    chain: u64,
    /// What the node calls itself.
    version: String,
    /// Whether it signs for accounts of its own, as no node of a public chain does.
    has_accounts: bool,
}

impl Signs {
    async fn of(sender: &Sender) -> Self {
        // A node that does not say counts as one that is none for development.
        let version = sender.ask("web3_clientVersion", json!([])).await.unwrap_or_default();
        let accounts: Vec<Value> = sender.ask("eth_accounts", json!([])).await.unwrap_or_default();
        Self { chain: sender.chain, version, has_accounts: !accounts.is_empty() }
    }

    /// Both the id and the node have to say so: ids are taken by others, and a tool's node may be a copy of a public chain.
    fn is_for_development(&self) -> bool {
        let version = self.version.to_lowercase();
        let is_tool = TOOLS.iter().any(|tool| version.contains(tool));
        DEVELOPMENT.contains(&self.chain) && (is_tool || self.has_accounts)
    }
}

/// Refuses a chain that is not for development, unless somebody typed its id to confirm that they mean it; tells whether it is for
/// development.
pub(super) async fn check(sender: &Sender, confirmed: Option<u64>) -> Result<bool, CommandError> {
    let signs = Signs::of(sender).await;
    let chain = signs.chain;
    match confirmed {
        _ if signs.is_for_development() => Ok(true),
        Some(id) if id == chain => Ok(false),
        Some(id) => Err(CommandError::Other(format!(
            "--not-a-development-chain names chain {id}, and the node is of chain {chain}"
        ))),
        None => Err(CommandError::Other(format!(
            "chain {chain} does not look like a development chain (its node calls itself `{:.80}`): the demo would deploy \
            contracts that let anybody mint, and spend money there. Start a node of your own, such as anvil or hardhat. If \
            you do mean this chain, add --not-a-development-chain {chain}",
            signs.version
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_the_id_and_the_node_have_to_say_so() {
        for (chain, version, has_accounts, expected) in [
            (31337, "anvil/v1.7.1", true, true),
            (31337, "HardhatNetwork/2.22.0/@nomicfoundation/edr/0.5", true, true),
            (1337, "Geth/v1.14.0/linux", true, true),
            (1337, "Geth/v1.14.0/linux", false, false),
            (1, "anvil/v1.7.1", true, false),
            (31337, "", false, false),
            (11_155_111, "Geth/v1.14.0", true, false),
        ] {
            let signs = Signs { chain, version: version.to_owned(), has_accounts };
            assert_eq!(signs.is_for_development(), expected, "{chain} {version}");
        }
    }
}
