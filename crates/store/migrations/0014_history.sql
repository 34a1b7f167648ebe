-- Who said what of a collection: one row for each version, with how many records of each kind are different since. Of what
-- chains state, only versions that changed orders. `author` is 0 a chain, 1 the fetcher of metadata, 2 the operator,
-- 3 a steward, 4 a wallet. Times are milliseconds since 1970.
CREATE TABLE attributions (
    collection_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    said_at BIGINT NOT NULL,
    author BIGINT NOT NULL,
    block_number BIGINT,
    wallet TEXT,
    sender_project BIGINT,
    sender_credential TEXT,
    contract BOOLEAN NOT NULL,
    tokens BIGINT NOT NULL,
    balances BIGINT NOT NULL,
    orders BIGINT NOT NULL,
    activities BIGINT NOT NULL,
    order_keys TEXT NOT NULL,
    PRIMARY KEY (collection_id, version)
);

-- Who administered what, and when. It outlives whom it names, so that it refers to nobody.
CREATE TABLE audit (
    audit_id BIGINT NOT NULL PRIMARY KEY,
    done_at BIGINT NOT NULL,
    actor BIGINT NOT NULL,
    actor_account BIGINT,
    actor_email TEXT,
    actor_project BIGINT,
    actor_credential TEXT,
    address TEXT,
    act TEXT NOT NULL,
    project_id BIGINT,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_of_project ON audit (project_id, audit_id);
CREATE INDEX audit_of_act ON audit (act, done_at);
