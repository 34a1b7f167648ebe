-- The block in which tokens changed hands, where a chain that is followed tells of it. What was stored before has none.
ALTER TABLE activities ADD COLUMN chain_id BIGINT;
ALTER TABLE activities ADD COLUMN block_number BIGINT;
ALTER TABLE activities ADD COLUMN block_hash TEXT;
-- What accounts, contracts and transactions moved, in the order of the chain. Nothing else that happened is in them.
CREATE INDEX transfers_from ON activities (from_account, chain_id, block_number, log_index, activity_id)
    WHERE chain_id IS NOT NULL;
CREATE INDEX transfers_to ON activities (to_account, chain_id, block_number, log_index, activity_id)
    WHERE chain_id IS NOT NULL;
CREATE INDEX transfers_of_contract ON activities (collection_id, chain_id, block_number, log_index, activity_id)
    WHERE chain_id IS NOT NULL;
CREATE INDEX transfers_of_transaction ON activities (tx_hash, chain_id, block_number, log_index, activity_id)
    WHERE chain_id IS NOT NULL;
