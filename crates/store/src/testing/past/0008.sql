-- A currency whose rate was told.
INSERT INTO currencies (chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate, rate_told_at)
VALUES (137, '0x00000000000000000000000000000000000000dd', 'USD Coin', 'USDC', 6, '', '1', '2025-03-01T00:00:00Z');
