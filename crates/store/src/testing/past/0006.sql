-- As the migration makes it of the link.
INSERT INTO collection_projects (project_id, collection_id, counted_to, rewinds, known_from, known_to)
VALUES (1, 1, 0, 0, NULL, NULL);
