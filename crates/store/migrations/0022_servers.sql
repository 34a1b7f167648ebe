-- Servers that share collections: where each is reached, and a counter that it raises for as long as it is alive.
CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    address TEXT NOT NULL,
    beat BIGINT NOT NULL,
    version TEXT NOT NULL
);
