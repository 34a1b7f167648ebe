INSERT INTO id_counters (name, value) VALUES ('account_ids', 0);
