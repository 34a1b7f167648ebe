CREATE UNIQUE INDEX ON relics (token);
