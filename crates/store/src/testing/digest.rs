//! Everything that the blocks of a chain made, as lines.

use bourse_wire::ChainId;

use crate::StoreError;
use crate::args::args;
use crate::session::Session;

/// For each followed collection: what is read of which table, each as texts, in an order that does not depend on when
/// it was written. Activities are in the order in which they were committed, which is that of the chain.
const TABLES: [(&str, &str); 6] = [
    ("token", "SELECT token_id FROM tokens WHERE collection_id = $1 ORDER BY token_id"),
    (
        "balance",
        "SELECT token_id, account, balance FROM balances WHERE collection_id = $1 AND balance <> '0'
        ORDER BY token_id, account",
    ),
    (
        "approval",
        "SELECT owner, operator, CASE WHEN approved THEN 'yes' ELSE 'no' END FROM approvals
        WHERE collection_id = $1 ORDER BY owner, operator",
    ),
    (
        "token approval",
        "SELECT token_id, operator FROM token_approvals
        WHERE collection_id = $1 AND operator <> '0x0000000000000000000000000000000000000000' ORDER BY token_id",
    ),
    (
        "order",
        "SELECT CAST(marketplace AS TEXT), order_id, CAST(side AS TEXT), CAST(status AS TEXT), origin_name, token_id,
        maker, price_amount, currency_address, quantity_initial, quantity_remaining, CAST(fee_bps AS TEXT),
        fee_breakdown, valid_from, valid_until, CAST(block_number AS TEXT), order_created_at, order_updated_at,
        created_at, updated_at, operator, CASE WHEN side = 1 THEN backing END
        FROM orders WHERE collection_id = $1 ORDER BY marketplace, order_id",
    ),
    (
        "activity",
        "SELECT CAST(action AS TEXT), CAST(marketplace AS TEXT), token_id, tx_hash, from_account, to_account, quantity,
        price_amount, currency_address, at, CAST(log_index AS TEXT), unique_hash, created_at
        FROM activities WHERE collection_id = $1 ORDER BY activity_id",
    ),
];

/// How many columns each has.
const COLUMNS: [usize; 6] = [1, 3, 3, 2, 22, 13];

pub(super) async fn rows(session: &mut Session<'_>, chain: ChainId) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT CAST(checkpoint_number AS TEXT), checkpoint_hash FROM chains WHERE chain_id = $1";
    let mut lines = Vec::new();
    for row in session.all(sql, args![chain]).await? {
        lines.push(format!("checkpoint {} {}", row.text(0)?, row.text(1)?));
    }
    // By address: numbers are given out in the order in which collections came.
    let sql = "SELECT followed.collection_id, contract_address FROM followed_collections followed
        JOIN collections ON collections.collection_id = followed.collection_id
        WHERE followed.chain_id = $1 ORDER BY contract_address";
    for collection in session.all(sql, args![chain]).await? {
        let (id, address) = (collection.u64(0, "collection id")?, collection.text(1)?);
        for ((what, sql), columns) in TABLES.into_iter().zip(COLUMNS) {
            for row in session.all(sql, args![id]).await? {
                let values: Vec<Option<String>> =
                    (0..columns).map(|column| row.opt_text(column)).collect::<Result<_, _>>()?;
                lines.push(format!("{address} {what} {values:?}"));
            }
        }
    }
    Ok(lines)
}
