-- The administrator's second factor, and somebody who has shown the password only.
INSERT INTO second_factors (account_id, secret, confirmed_at, used_step, tried_hour, tries)
VALUES (1, 'JBSWY3DPEHPK3PXP', '2025-03-01T00:00:00Z', 0, 0, 0);
INSERT INTO recovery_codes (account_id, code_hash) VALUES (1, 'c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0');
INSERT INTO pending_sign_ins (session_hash, account_id, expires_at) VALUES ('9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e9e', 1, 2056320000);
