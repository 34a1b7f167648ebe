-- The link of the contract that schema 1 has.
INSERT INTO contract_links (project_id, chain_id, contract_address, hosted_collection_id)
VALUES (1, 137, '0xfdb42a198a932c8d3b506ffa5e855bc4b348a712', 1);
