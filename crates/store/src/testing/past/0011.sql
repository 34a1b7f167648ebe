-- As the migration makes them where there is one project.
INSERT INTO grants (project_id, subject, chain_id, contract_address, granted_at)
VALUES (1, 0, 0, '', '2025-03-01T00:00:00Z'), (1, 1, 0, '', '2025-03-01T00:00:00Z'), (1, 2, 0, '', '2025-03-01T00:00:00Z');
