-- Whether the operator, or the network's settings, want a collection to be followed, and not projects alone. Who asked for
-- those that are followed already was not kept.
ALTER TABLE followed_collections ADD COLUMN by_operator BOOLEAN NOT NULL DEFAULT TRUE;

-- The projects that asked for a collection to be followed.
CREATE TABLE collection_followers (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    collection_id BIGINT NOT NULL,
    followed_at TEXT NOT NULL,
    PRIMARY KEY (project_id, collection_id)
);
CREATE INDEX collection_followers_of_collection ON collection_followers (collection_id);

-- Collections that were followed and no longer are. What the operator left is not followed because something happens to it.
CREATE TABLE left_collections (
    collection_id BIGINT NOT NULL PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    left_at TEXT NOT NULL,
    by_operator BOOLEAN NOT NULL
);
CREATE INDEX left_collections_of_chain ON left_collections (chain_id, collection_id);
