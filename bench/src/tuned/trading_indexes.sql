CREATE INDEX ON tokens USING gin (name gin_trgm_ops);
CREATE UNIQUE INDEX ON listed (token);
-- In the order of prices, with the numbers that are asked for beside them: a page reads nothing but the index and its rows.
CREATE INDEX ON listed ("Background", rank, "Level", "Power", token);
CREATE INDEX ON listed ("Body", rank, "Level", "Power", token);
CREATE INDEX ON listed ("Headwear", rank, "Level", "Power", token);
CREATE INDEX ON listed ("Rarity", rank, "Level", "Power", token);
-- In the order of numbers: a count reads the part of the index that it counts.
CREATE INDEX ON listed ("Background", "Level");
CREATE INDEX ON listed ("Background", "Power");
CREATE INDEX ON listed ("Body", "Level");
CREATE INDEX ON listed ("Body", "Power");
CREATE INDEX ON listed ("Headwear", "Level");
CREATE INDEX ON listed ("Headwear", "Power");
CREATE INDEX ON listed ("Rarity", "Level");
CREATE INDEX ON listed ("Rarity", "Power");
CREATE INDEX ON sold_in (owner, currency, rank);
CREATE INDEX ON listings (token, rank);
