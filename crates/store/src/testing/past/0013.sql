-- A project that asked for a collection, and one that was left.
INSERT INTO collection_followers (project_id, collection_id, followed_at) VALUES (1, 2, '2025-03-01T00:00:00Z');
INSERT INTO left_collections (collection_id, chain_id, left_at, by_operator) VALUES (1, 137, '2025-03-01T00:00:00Z', FALSE);
