-- What happened to tokens and orders, numbered as it was committed.
CREATE TABLE activities (
    collection_id BIGINT NOT NULL,
    activity_id BIGINT NOT NULL,
    action BIGINT NOT NULL,
    marketplace BIGINT NOT NULL,
    token_id TEXT,
    tx_hash TEXT NOT NULL,
    from_account TEXT NOT NULL,
    to_account TEXT,
    quantity TEXT NOT NULL,
    quantity_decimals BIGINT NOT NULL,
    price_amount TEXT,
    currency_address TEXT,
    at TEXT NOT NULL,
    log_index BIGINT NOT NULL,
    unique_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (collection_id, activity_id),
    UNIQUE (collection_id, unique_hash)
);
CREATE INDEX activities_of_token ON activities (collection_id, token_id, activity_id);

INSERT INTO revisions (name, revision) VALUES ('currencies', 1);
