INSERT INTO id_counters (name, value) VALUES ('task_ids', 0);
