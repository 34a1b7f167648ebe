-- A number drawn at random with every version. A database that failed over to an older copy of itself, or was restored from one,
-- gives out the same versions again for something else, but not with the same numbers.
ALTER TABLE collection_versions ADD COLUMN stamp BIGINT NOT NULL DEFAULT 0;
ALTER TABLE revisions ADD COLUMN stamp BIGINT NOT NULL DEFAULT 0;

-- The number of the version before: whoever knows that version by another number cannot go on from it.
ALTER TABLE collection_changes ADD COLUMN follows BIGINT NOT NULL DEFAULT 0;

-- The numbers of the latest versions, the newest last: there is no log of what each of them changed.
ALTER TABLE analytics_versions ADD COLUMN stamps TEXT NOT NULL DEFAULT '[]';
