-- What projects may state of what all projects share: of collections, of the identity of contracts, of currencies. Chain 0
-- is every chain, and no address every contract of the chain.
CREATE TABLE grants (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    subject BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    PRIMARY KEY (project_id, subject, chain_id, contract_address)
);

-- Where there is one project, it has stated everything so far, and goes on.
INSERT INTO grants (project_id, subject, chain_id, contract_address, granted_at)
SELECT project_id, 0, 0, '', created_at FROM projects WHERE (SELECT COUNT(*) FROM projects) = 1;
INSERT INTO grants (project_id, subject, chain_id, contract_address, granted_at)
SELECT project_id, 1, 0, '', created_at FROM projects WHERE (SELECT COUNT(*) FROM projects) = 1;
INSERT INTO grants (project_id, subject, chain_id, contract_address, granted_at)
SELECT project_id, 2, 0, '', created_at FROM projects WHERE (SELECT COUNT(*) FROM projects) = 1;
