-- An administrator who is signed in and a member, and an invitation.
INSERT INTO accounts (account_id, email, password_hash, administrator, created_at, signed_in_at)
VALUES (1, 'ada@bourse.example', 'hash', TRUE, '2025-03-01T00:00:00Z', '2025-03-01T00:00:00Z');
INSERT INTO account_sessions (session_hash, account_id, created_at, expires_at)
VALUES ('5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e', 1, '2025-03-01T00:00:00Z', 2056320000);
INSERT INTO members (account_id, project_id, role, added_at) VALUES (1, 1, 1, '2025-03-01T00:00:00Z');
INSERT INTO invites (invite_hash, project_id, role, made_by, created_at, expires_at)
VALUES ('1717171717171717171717171717171717171717171717171717171717171717', 1, 2, 1, '2025-03-01T00:00:00Z', 2056320000);
