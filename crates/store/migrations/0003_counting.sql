-- What is counted of a project's events: the state after each commit has a version.
CREATE TABLE analytics_versions (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    version BIGINT NOT NULL,
    PRIMARY KEY (project_id)
);

-- Batches of events that were counted, so that none is counted twice.
CREATE TABLE analytics_batches (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    batch_id TEXT NOT NULL,
    day BIGINT NOT NULL,
    PRIMARY KEY (project_id, batch_id)
);
CREATE INDEX analytics_batches_of_day ON analytics_batches (project_id, day);
