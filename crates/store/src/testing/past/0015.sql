-- As the migration adds it up.
INSERT INTO project_files (project_id, bytes) VALUES (1, 1000);
