-- A storefront at a host of its own.
INSERT INTO storefronts (project_id, domain, content, created_at, updated_at)
VALUES (1, 'shop.example', '{"domain":"shop.example"}', '2025-03-14T12:00:00Z', '2025-03-14T12:00:00Z');
