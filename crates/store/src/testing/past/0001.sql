-- Rows as a program of schema 1 wrote them: two collections, and one project with everything that it can have.
UPDATE revisions SET revision = 7 WHERE name = 'credentials';
INSERT INTO currencies (chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate)
VALUES (137, '0x0000000000000000000000000000000000000000', 'POL', 'POL', 18, '', '0.24');
INSERT INTO collections (collection_id, chain_id, contract_address) VALUES (1, 137, '0xfdb42a198a932c8d3b506ffa5e855bc4b348a712'), (2, 137, '0x00000000000000000000000000000000000000c2');
INSERT INTO collection_versions (collection_id, version) VALUES (1, 1), (2, 1);
INSERT INTO collection_changes (collection_id, version, changed)
VALUES (1, 1, '{"contract":true,"tokens":["1","2"],"balances":[["1","0x00000000000000000000000000000000000000a1"]],"orders":[]}');
INSERT INTO applied_batches (collection_id, batch_key, version) VALUES (1, 'content:11', 1);
INSERT INTO contracts (collection_id, info)
VALUES (1, '{"chainId":137,"address":"0xfdb42a198a932c8d3b506ffa5e855bc4b348a712","name":"Relics","type":"ERC1155","symbol":"RLC","deployed":true}');
INSERT INTO tokens (collection_id, token_id, metadata) VALUES
    (1, '1', '{"tokenId":"1","name":"Bronze relic","properties":{"metal":"bronze"},"attributes":[]}'),
    (1, '2', '{"tokenId":"2","name":"Silver relic","properties":{"metal":"silver"},"attributes":[]}'),
    (2, '5', '{"tokenId":"5","name":"Minted","attributes":[]}');
INSERT INTO balances (collection_id, token_id, account, balance) VALUES
    (1, '1', '0x00000000000000000000000000000000000000a1', '4'), (1, '2', '0x00000000000000000000000000000000000000a2', '1'), (2, '5', '0x00000000000000000000000000000000000000a1', '0'), (2, '5', '0x00000000000000000000000000000000000000a2', '1');
INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
    currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
    valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at)
VALUES
    (1, 5, 'listing', 1, 1, 'OpenSea', '1', '0x00000000000000000000000000000000000000a1', '2000', '0x0000000000000000000000000000000000000000', '4', '4', 0, 250,
        '[{"kind":"royalty","recipientAddress":"0x00000000000000000000000000000000000000b1","bps":250}]', '2025-03-01T00:00:00Z',
        '2035-01-01T00:00:00Z', 0, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z'),
    (1, 5, 'offer', 2, 1, 'OpenSea', '2', '0x00000000000000000000000000000000000000a1', '900', '0x0000000000000000000000000000000000000000', '1', '1', 0, 0, '[]', '2025-03-01T00:00:00Z',
        '2035-01-01T00:00:00Z', 0, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z'),
    (1, 5, 'over', 1, 5, 'OpenSea', '1', '0x00000000000000000000000000000000000000a1', '1', '0x0000000000000000000000000000000000000000', '1', '0', 0, 0, '[]', '2025-03-01T00:00:00Z',
        '2035-01-01T00:00:00Z', 0, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO projects (project_id, name, created_at) VALUES (1, 'Long here', '2025-03-01T00:00:00Z');
-- The key AQAAAAAAAAABAQIDBAUGBwgJCgsMDQ4PEBE.
INSERT INTO access_keys (project_id, key_id, key_hash, display_name, active, is_default, require_origin, allowed_origins,
    allowed_services, created_at, last_used_at)
VALUES (1, 1, 'e66c855686d83bc3b9010b8ec372abd85389aa56ca3d093e3420e3b01f393c5c', 'default', TRUE, TRUE, FALSE, '[]',
    '["metadata","collections","marketplace","builder","analytics","ingest","admin"]', '2025-03-01T00:00:00Z', NULL);
INSERT INTO secret_tokens (project_id, token_id, display_name, created_at, expires_at, revoked_at, last_used_at)
VALUES (1, 'revoked', 'default', '2025-03-01T00:00:00Z', NULL, '2025-03-02T00:00:00Z', NULL);
INSERT INTO hosted_collections (project_id, hosted_collection_id, metadata, private, created_at, updated_at)
VALUES (1, 1, '{"name":"Postcards"}', FALSE, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO hosted_tokens (project_id, hosted_collection_id, token_id, metadata, private)
VALUES (1, 1, '1', '{"tokenId":"1","name":"First light"}', FALSE);
INSERT INTO hosted_assets (project_id, asset_id, hosted_collection_id, token_id, metadata_field, filename, content_hash,
    filesize, mime_type, width, height, updated_at)
VALUES
    (1, 1, 1, '1', 'image', 'light.svg', 'abababababababababababababababababababababababababababababababab', 599, 'image/svg+xml', 100, 100, '2025-03-01T00:00:00Z'),
    (1, 2, 1, NULL, 'image', 'cover.svg', 'cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd', 401, 'image/svg+xml', 100, 100, '2025-03-01T00:00:00Z');
INSERT INTO contract_collections (project_id, link_id, chain_id, contract_address, hosted_collection_id)
VALUES (1, 1, 137, '0xfdb42a198a932c8d3b506ffa5e855bc4b348a712', 1);
INSERT INTO audiences (project_id, audience_id, name, created_at, updated_at) VALUES (1, 1, 'Guests', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO audience_contacts (project_id, contact_id, audience_id, address, name, email, created_at, updated_at)
VALUES (1, 1, 1, '0x00000000000000000000000000000000000000a1', 'Ada', 'ada@guests.example', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO audience_contracts (project_id, contract_id, audience_id, chain_id, contract_address, contract_name,
    contract_type, source, items_contract_address, abi, bytecode, bytecode_hash, created_at, updated_at)
VALUES (1, 1, 1, 137, '0xfdb42a198a932c8d3b506ffa5e855bc4b348a712', 'Relics', 'ERC1155', 'LINKED', NULL, '', '', '', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO events (project_id, event_id, wallet, kind, at)
VALUES (1, 'e1', '0x00000000000000000000000000000000000000a1', 1, '2025-03-10T10:00:00Z'), (1, 'e2', '0x00000000000000000000000000000000000000a2', 1, '2025-03-10T11:00:00Z'),
    (1, 'e3', '0x00000000000000000000000000000000000000a1', 2, '2025-03-11T11:00:00Z');
INSERT INTO usage (project_id, record_id, service, day, units) VALUES (1, 'u1', 'metadata', '2025-03-10', 5);
