-- An order of which somebody says more than the chain states, and a token of which somebody told.
INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
    currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
    valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at, operator, backing, said, stated)
VALUES (2, 5, 'apart', 1, 1, 'OpenSea', '5', '0x00000000000000000000000000000000000000a2', '4000', '0x0000000000000000000000000000000000000000', '2', '1', 0, 0, '[]', '2025-03-01T00:00:00Z',
    '2035-01-01T00:00:00Z', 0, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '0x00000000000000000000000000000000000000ee', '1',
    '{"status":"active","remaining":"2","blockNumber":0,"orderCreatedAt":"2025-03-01T00:00:00Z","orderUpdatedAt":"2025-03-01T00:00:00Z","createdAt":"2025-03-01T00:00:00Z","updatedAt":"2025-03-01T00:00:00Z"}',
    '{"status":"active","remaining":"1","blockNumber":0,"orderCreatedAt":"2025-03-01T00:00:00Z","orderUpdatedAt":"2025-03-01T00:00:00Z","createdAt":"2025-03-01T00:00:00Z","updatedAt":"2025-03-01T00:00:00Z"}');
INSERT INTO tokens (collection_id, token_id, metadata, said)
VALUES (2, '6', '{"tokenId":"6","name":"Told of","attributes":[]}', TRUE);
