-- Which projects linked a contract, beside `contract_collections`: who makes a collection asks for it, and on a cluster that
-- must not need every node.
CREATE TABLE contract_links (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    hosted_collection_id BIGINT NOT NULL,
    PRIMARY KEY (project_id, chain_id, contract_address)
);
CREATE INDEX contract_links_of_contract ON contract_links (chain_id, contract_address);

INSERT INTO contract_links (project_id, chain_id, contract_address, hosted_collection_id)
SELECT project_id, chain_id, contract_address, hosted_collection_id FROM contract_collections;
