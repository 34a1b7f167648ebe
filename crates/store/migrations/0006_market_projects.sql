-- The projects whose market a collection is in, and up to which activity its market events are counted for each. Chain
-- activities from one time to another were counted before they were read anew.
CREATE TABLE collection_projects (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    collection_id BIGINT NOT NULL,
    counted_to BIGINT NOT NULL,
    rewinds BIGINT NOT NULL,
    known_from TEXT,
    known_to TEXT,
    PRIMARY KEY (project_id, collection_id)
);
CREATE INDEX collection_projects_of_collection ON collection_projects (collection_id);

INSERT INTO collection_projects (project_id, collection_id, counted_to, rewinds)
SELECT contract_collections.project_id, collections.collection_id, 0, 0
FROM contract_collections JOIN collections
ON collections.chain_id = contract_collections.chain_id
AND collections.contract_address = contract_collections.contract_address;
