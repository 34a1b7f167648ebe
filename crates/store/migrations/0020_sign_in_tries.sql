-- Tries to sign in within the last minutes, so that there are so many of them whichever servers they come to. Who tried is kept as
-- a hash.
CREATE TABLE sign_in_tries (
    tried_by TEXT NOT NULL PRIMARY KEY,
    minute BIGINT NOT NULL,
    tries BIGINT NOT NULL
);
CREATE INDEX sign_in_tries_by_minute ON sign_in_tries (minute);
