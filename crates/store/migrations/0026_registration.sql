-- Audiences to which wallets may sign themselves up. Nobody asked for that before.
ALTER TABLE audiences ADD COLUMN registration_open BOOLEAN NOT NULL DEFAULT FALSE;

-- Contracts are listed by chain in the order in which they came to be known, without sorting all of the chain each time.
CREATE INDEX collections_of_chain ON collections (chain_id, collection_id);
