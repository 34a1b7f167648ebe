-- Tokens and contracts whose metadata is to be fetched; an empty token id is the contract itself. Times are milliseconds
-- since 1970, as they are sorted by.
CREATE TABLE metadata_queue (
    collection_id BIGINT NOT NULL,
    token_id TEXT NOT NULL,
    state BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    host TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (collection_id, token_id)
);
CREATE INDEX metadata_queue_due ON metadata_queue (state, due_at);

-- What projects asked to be fetched anew. How far it is follows from the queue.
CREATE TABLE tasks (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    task_id BIGINT NOT NULL,
    collection_id BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    tokens TEXT NOT NULL,
    total BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, task_id)
);
CREATE INDEX tasks_of_collection ON tasks (project_id, collection_id, created_at);
