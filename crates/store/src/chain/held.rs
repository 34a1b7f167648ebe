//! Who holds tokens of a followed collection, as far as a sample shows it.

use bourse_market::facts::BlockHash;
use bourse_wire::ChainId;

use super::state::read_checkpoint;
use crate::args::args;
use crate::load::Balance;
use crate::{CollectionId, Pending, Store};

/// Some of what is held of a collection at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSample {
    /// The height of the block.
    pub number: u64,
    /// Its name.
    pub hash: BlockHash,
    /// Who holds how much of which token.
    pub balances: Vec<Balance>,
}

impl Store {
    /// Some of who holds tokens of a live collection, at the checkpoint of its chain; nothing while the chain is not followed.
    /// For each digit that a token's number may begin with there are at most so many, so that a sample is spread over a
    /// collection of any size.
    pub fn held_sample(
        &self,
        chain: ChainId,
        id: CollectionId,
        of_each_digit: u64,
    ) -> Pending<'_, Option<HeldSample>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(checkpoint) = read_checkpoint(&mut session, chain).await? else { return Ok(None) };
                let mut balances: Vec<Balance> = Vec::new();
                // Whatever the collation of the database, letters come after all numbers.
                for (digit, next) in "0123456789".chars().zip("123456789a".chars()) {
                    let sql = "FROM balances WHERE collection_id = $1 AND token_id >= $2 AND token_id < $3
                        AND balance <> '0' ORDER BY token_id, account LIMIT $4";
                    let args = args![id.0, digit.to_string(), next.to_string(), of_each_digit];
                    balances.extend(session.select::<Balance>(sql, args).await?);
                }
                Ok(Some(HeldSample { number: checkpoint.number, hash: checkpoint.hash, balances }))
            })
        })
    }
}
