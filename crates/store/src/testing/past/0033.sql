-- A chain that a server of this schema follows.
INSERT INTO chain_leases (chain_id, holder, expires_at, beat) VALUES (1, '33/0123456789abcdef', '2025-03-03T00:10:00Z', 7);
