INSERT INTO id_counters (name, value) VALUES ('audit_ids', 0);
