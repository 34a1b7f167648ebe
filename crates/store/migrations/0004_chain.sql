-- What is known of orders that a chain states: who moves the maker's tokens or money, and how much of it can be moved.
ALTER TABLE orders ADD COLUMN operator TEXT;
ALTER TABLE orders ADD COLUMN backing TEXT;
-- Of orders that may still be filled and that a chain states. Others are in none of them, and cost nothing more. The
-- collection comes last: with it alone, PostgreSQL would take one for the other until it has statistics.
CREATE INDEX chain_orders_of_maker ON orders (maker, collection_id) WHERE status = 1 AND operator IS NOT NULL;
CREATE INDEX chain_orders_of_token ON orders (token_id, collection_id) WHERE status = 1 AND operator IS NOT NULL;
CREATE INDEX chain_offers ON orders (collection_id, marketplace, order_id)
    WHERE status = 1 AND operator IS NOT NULL AND side = 2;

-- How far each chain is followed.
CREATE TABLE chains (
    chain_id BIGINT NOT NULL PRIMARY KEY,
    checkpoint_number BIGINT NOT NULL,
    checkpoint_hash TEXT NOT NULL
);

-- The blocks that a rewind may go back to.
CREATE TABLE chain_blocks (
    chain_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    parent TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (chain_id, number)
);

-- Which process follows a chain.
CREATE TABLE chain_leases (
    chain_id BIGINT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at TEXT NOT NULL
);

-- Collections whose chain is followed.
CREATE TABLE followed_collections (
    collection_id BIGINT NOT NULL PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    from_block BIGINT NOT NULL,
    next_block BIGINT NOT NULL,
    live BOOLEAN NOT NULL,
    followed_at TEXT NOT NULL
);
CREATE INDEX followed_collections_of_chain ON followed_collections (chain_id, collection_id);

-- What the newest blocks replaced.
CREATE TABLE chain_undo (
    collection_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    before TEXT NOT NULL,
    PRIMARY KEY (collection_id, number)
);

-- Who may move all tokens of a holder.
CREATE TABLE approvals (
    collection_id BIGINT NOT NULL,
    owner TEXT NOT NULL,
    operator TEXT NOT NULL,
    approved BOOLEAN NOT NULL,
    PRIMARY KEY (collection_id, owner, operator)
);

-- Who may move one token besides.
CREATE TABLE token_approvals (
    collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    operator TEXT NOT NULL,
    PRIMARY KEY (collection_id, token_id)
);
