-- The contract of the link that schema 1 has.
INSERT INTO link_queue (chain_id, contract_address, token_id, asked, of_hosted, after_token, due_at)
VALUES (137, '0xfdb42a198a932c8d3b506ffa5e855bc4b348a712', '*', 0, FALSE, '', 0);
-- A token that said something else before a hosted collection spoke for it.
INSERT INTO replaced_metadata (collection_id, token_id, metadata)
VALUES (2, '5', '{"tokenId":"5","name":"Minted","attributes":[]}');
