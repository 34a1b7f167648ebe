-- An order that is filled whole or not at all.
INSERT INTO orders (collection_id, marketplace, order_id, side, status, origin_name, token_id, maker, price_amount,
    currency_address, quantity_initial, quantity_remaining, quantity_decimals, fee_bps, fee_breakdown, valid_from,
    valid_until, block_number, order_created_at, order_updated_at, created_at, updated_at, operator, backing, is_whole)
VALUES (2, 5, 'whole', 1, 1, 'OpenSea', '5', '0x00000000000000000000000000000000000000a2', '4000', '0x0000000000000000000000000000000000000000', '2', '2', 0, 0, '[]', '2025-03-01T00:00:00Z',
    '2035-01-01T00:00:00Z', 0, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z', '0x00000000000000000000000000000000000000ee', '1', TRUE);
