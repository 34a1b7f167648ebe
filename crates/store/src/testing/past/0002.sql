-- What happened to a token, and the revision of currencies.
UPDATE revisions SET revision = 3 WHERE name = 'currencies';
INSERT INTO activities (collection_id, activity_id, action, marketplace, token_id, tx_hash, from_account, to_account,
    quantity, quantity_decimals, price_amount, currency_address, at, log_index, unique_hash, created_at)
VALUES (1, 1, 1, 5, '1', '', '0x00000000000000000000000000000000000000a1', NULL, '4', 0, '2000', '0x0000000000000000000000000000000000000000', '2025-03-01T00:00:00Z', 0, 'order:5:listing:listing', '2025-03-01T00:00:00Z');
