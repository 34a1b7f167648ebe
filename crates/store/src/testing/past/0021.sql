-- What a project used of a minute.
INSERT INTO rate_uses (minute, server, bucket, used) VALUES (29000000, '0123456789abcdef', 'requests project 1', 40);
