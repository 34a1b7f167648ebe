-- The three events, counted.
INSERT INTO analytics_versions (project_id, version) VALUES (1, 1);
INSERT INTO analytics_batches (project_id, batch_id, day) VALUES (1, 'content:43', 20157);
INSERT INTO analytics_chunks (project_id, kind, day, part, version, body) VALUES
    (1, 0, 0, 0, 1, BYTES(00000000000000000000000000000000000000a100000000000000000000000000000000000000a2)),
    (1, 1, 20157, 0, 1, BYTES(0002010000)), (1, 1, 20158, 0, 1, BYTES(0001000100)),
    (1, 2, 20157, 0, 1, BYTES(0200)), (1, 2, 20158, 0, 1, BYTES(0101));
INSERT INTO analytics_seen (project_id, version, day, body)
VALUES (1, 1, 20157, BYTES(8b5cc4df7eec7d32ac0f09c0f8bf5e7acef7fc13a3818093));
