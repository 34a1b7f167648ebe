INSERT INTO id_counters (name, value) VALUES ('webhook_ids', 0);
