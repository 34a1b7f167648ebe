CREATE UNLOGGED TABLE relics (token bigint, metadata text);
