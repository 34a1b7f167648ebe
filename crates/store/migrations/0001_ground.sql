-- Both engines run this. Types are the few that both know: BIGINT, TEXT, BOOLEAN. Times are RFC 3339 text in UTC with
-- nanoseconds, which neither engine's own type keeps; amounts and token ids are decimal text, addresses lower-case 0x
-- text, enums their small number. Tables of a collection begin their key with collection_id, tables of a project with
-- project_id: that is the column they are distributed by on Citus. docs/schema.md explains every table.

CREATE TABLE revisions (
    name TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);
INSERT INTO revisions (name, revision) VALUES ('credentials', 1);

CREATE TABLE currencies (
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    name TEXT NOT NULL,
    symbol TEXT NOT NULL,
    decimals BIGINT NOT NULL,
    image_url TEXT NOT NULL,
    exchange_rate TEXT NOT NULL,
    PRIMARY KEY (chain_id, contract_address)
);

CREATE TABLE collections (
    collection_id BIGINT NOT NULL PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    UNIQUE (chain_id, contract_address)
);

CREATE TABLE collection_versions (
    collection_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

CREATE TABLE collection_changes (
    collection_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    changed TEXT NOT NULL,
    PRIMARY KEY (collection_id, version)
);

CREATE TABLE applied_batches (
    collection_id BIGINT NOT NULL,
    batch_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (collection_id, batch_key)
);

CREATE TABLE contracts (
    collection_id BIGINT NOT NULL PRIMARY KEY,
    info TEXT NOT NULL
);

CREATE TABLE tokens (
    collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (collection_id, token_id)
);

CREATE TABLE balances (
    collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    account TEXT NOT NULL,
    balance TEXT NOT NULL,
    PRIMARY KEY (collection_id, token_id, account)
);

CREATE TABLE orders (
    collection_id BIGINT NOT NULL,
    marketplace BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    side BIGINT NOT NULL,
    status BIGINT NOT NULL,
    origin_name TEXT NOT NULL,
    token_id TEXT,
    maker TEXT NOT NULL,
    price_amount TEXT NOT NULL,
    currency_address TEXT NOT NULL,
    quantity_initial TEXT NOT NULL,
    quantity_remaining TEXT NOT NULL,
    quantity_decimals BIGINT NOT NULL,
    fee_bps BIGINT NOT NULL,
    fee_breakdown TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_until TEXT NOT NULL,
    block_number BIGINT NOT NULL,
    order_created_at TEXT NOT NULL,
    order_updated_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (collection_id, marketplace, order_id)
);

CREATE TABLE projects (
    project_id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE access_keys (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    key_id BIGINT NOT NULL,
    key_hash TEXT NOT NULL,
    display_name TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    is_default BOOLEAN NOT NULL,
    require_origin BOOLEAN NOT NULL,
    allowed_origins TEXT NOT NULL,
    allowed_services TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    PRIMARY KEY (project_id, key_id)
);

CREATE TABLE secret_tokens (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    token_id TEXT NOT NULL,
    display_name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT,
    last_used_at TEXT,
    PRIMARY KEY (project_id, token_id)
);

CREATE TABLE hosted_collections (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    hosted_collection_id BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    private BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, hosted_collection_id)
);

CREATE TABLE hosted_tokens (
    project_id BIGINT NOT NULL,
    hosted_collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    metadata TEXT NOT NULL,
    private BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, hosted_collection_id, token_id),
    FOREIGN KEY (project_id, hosted_collection_id)
        REFERENCES hosted_collections (project_id, hosted_collection_id) ON DELETE CASCADE
);

CREATE TABLE hosted_assets (
    project_id BIGINT NOT NULL,
    asset_id BIGINT NOT NULL,
    hosted_collection_id BIGINT NOT NULL,
    token_id TEXT,
    metadata_field TEXT NOT NULL,
    filename TEXT NOT NULL,
    content_hash TEXT,
    filesize BIGINT NOT NULL,
    mime_type TEXT NOT NULL,
    width BIGINT,
    height BIGINT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, asset_id),
    FOREIGN KEY (project_id, hosted_collection_id)
        REFERENCES hosted_collections (project_id, hosted_collection_id) ON DELETE CASCADE
);
CREATE INDEX hosted_assets_of_token ON hosted_assets (project_id, hosted_collection_id, token_id);

CREATE TABLE contract_collections (
    project_id BIGINT NOT NULL,
    link_id BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    hosted_collection_id BIGINT NOT NULL,
    PRIMARY KEY (project_id, link_id),
    UNIQUE (project_id, chain_id, contract_address),
    FOREIGN KEY (project_id, hosted_collection_id)
        REFERENCES hosted_collections (project_id, hosted_collection_id) ON DELETE CASCADE
);

CREATE TABLE audiences (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    audience_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, audience_id),
    UNIQUE (project_id, name)
);

CREATE TABLE audience_contacts (
    project_id BIGINT NOT NULL,
    contact_id BIGINT NOT NULL,
    audience_id BIGINT NOT NULL,
    address TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, contact_id),
    UNIQUE (project_id, audience_id, address),
    FOREIGN KEY (project_id, audience_id) REFERENCES audiences (project_id, audience_id) ON DELETE CASCADE
);

CREATE TABLE audience_contracts (
    project_id BIGINT NOT NULL,
    contract_id BIGINT NOT NULL,
    audience_id BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    contract_name TEXT NOT NULL,
    contract_type TEXT NOT NULL,
    source TEXT NOT NULL,
    items_contract_address TEXT,
    abi TEXT NOT NULL,
    bytecode TEXT NOT NULL,
    bytecode_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, contract_id),
    UNIQUE (project_id, audience_id, chain_id, contract_address),
    FOREIGN KEY (project_id, audience_id) REFERENCES audiences (project_id, audience_id) ON DELETE CASCADE
);

CREATE TABLE events (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    event_id TEXT NOT NULL,
    wallet TEXT NOT NULL,
    kind BIGINT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (project_id, event_id)
);

CREATE TABLE usage (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    record_id TEXT NOT NULL,
    service TEXT NOT NULL,
    day TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (project_id, record_id)
);
CREATE INDEX usage_of_day ON usage (project_id, day);
