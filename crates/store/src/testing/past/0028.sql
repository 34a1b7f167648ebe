-- A storefront with pages for buyers.
INSERT INTO storefronts (project_id, domain, content, created_at, updated_at, site)
VALUES (2, NULL, '{"site":{"enabled":true}}', '2025-03-14T12:00:00Z', '2025-03-14T12:00:00Z', TRUE);
