-- Sets of wallets by day, addresses and counters, each in pieces that a batch rewrites few of. An empty body is a piece
-- that is no more: whoever follows must hear of it.
CREATE TABLE analytics_chunks (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    kind BIGINT NOT NULL,
    day BIGINT NOT NULL,
    part BIGINT NOT NULL,
    version BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (project_id, kind, day, part)
);
CREATE INDEX analytics_chunks_of_version ON analytics_chunks (project_id, version);

-- Hashes of the ids of events, eight bytes each, by the commit that counted them and the day it did.
CREATE TABLE analytics_seen (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    version BIGINT NOT NULL,
    day BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (project_id, version)
);
CREATE INDEX analytics_seen_of_day ON analytics_seen (project_id, day);
