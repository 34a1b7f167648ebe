-- A second project with an audience that wallets sign themselves up to, and one of them.
INSERT INTO projects (project_id, name, created_at) VALUES (2, 'Waiting', '2025-03-02T00:00:00Z');
INSERT INTO audiences (project_id, audience_id, name, registration_open, created_at, updated_at)
VALUES (2, 25, 'Signed up', TRUE, '2025-03-02T00:00:00Z', '2025-03-02T00:00:00Z');
INSERT INTO audience_contacts (project_id, contact_id, audience_id, address, name, email, created_at, updated_at)
VALUES (2, 25, 25, '0x00000000000000000000000000000000000000c4', '', '', '2025-03-02T00:00:00Z', '2025-03-02T00:00:00Z');
