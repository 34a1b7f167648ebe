-- A token whose metadata is to be fetched, and who asked for it.
INSERT INTO metadata_queue (collection_id, token_id, state, attempts, due_at, queued_at, host, reason)
VALUES (2, '5', 0, 1, 1740787200000, 1740787200000, 'a.example', '');
INSERT INTO tasks (project_id, task_id, collection_id, kind, tokens, total, created_at)
VALUES (1, 1, 2, 0, '["5"]', 1, 1740787200000);
