-- Somebody who tried to sign in.
INSERT INTO sign_in_tries (tried_by, minute, tries) VALUES ('7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a', 29000000, 3);
