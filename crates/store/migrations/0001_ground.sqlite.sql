-- Sequences, which SQLite does not have: one row a kind of id, the last one given out.
CREATE TABLE id_counters (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO id_counters (name, value) VALUES
    ('collection_ids', 0), ('project_ids', 0), ('key_ids', 0), ('hosted_collection_ids', 0), ('asset_ids', 0),
    ('link_ids', 0), ('audience_ids', 0), ('contact_ids', 0), ('contract_ids', 0);
