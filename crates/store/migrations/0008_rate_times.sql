-- When the rate of a currency was told. Of those that are there already nobody knows.
ALTER TABLE currencies ADD COLUMN rate_told_at TEXT NOT NULL DEFAULT '0001-01-01T00:00:00Z';
