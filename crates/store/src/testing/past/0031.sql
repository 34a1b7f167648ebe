-- A contract whose link is followed, up to a token, and a token of it that said something else before.
INSERT INTO link_queue (chain_id, contract_address, token_id, asked, of_hosted, after_token, due_at)
VALUES (137, '0x00000000000000000000000000000000000000c2', '*', 1, FALSE, '4', 1740787200000);
INSERT INTO replaced_metadata (collection_id, token_id, metadata)
VALUES (2, '5', '{"tokenId":"5","name":"Minted","attributes":[]}');
