-- Contracts, and tokens of theirs, of which a hosted collection may say something else than before, as a link or what it leads to
-- changed. The token `*` is all that there is of a contract, gone through page by page; the empty one is the contract itself. How
-- often it was asked for tells who is done with it that it was asked for anew. Times are milliseconds since 1970.
CREATE TABLE link_queue (
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    token_id TEXT NOT NULL,
    asked BIGINT NOT NULL,
    of_hosted BOOLEAN NOT NULL,
    after_token TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (chain_id, contract_address, token_id)
);
CREATE INDEX link_queue_due ON link_queue (due_at);

-- Links that were made before are looked at once.
INSERT INTO link_queue (chain_id, contract_address, token_id, asked, of_hosted, after_token, due_at)
SELECT DISTINCT chain_id, contract_address, '*', 0, FALSE, '', 0 FROM contract_links;

-- What tokens said before a hosted collection did, and contracts, which are the empty token: they say it again without the link.
CREATE TABLE replaced_metadata (
    collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (collection_id, token_id)
);
