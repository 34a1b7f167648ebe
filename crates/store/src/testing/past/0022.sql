-- A server that shares collections.
INSERT INTO servers (id, address, beat, version) VALUES ('0123456789abcdef', '192.0.2.1:4010', 40, '0.1.0');
