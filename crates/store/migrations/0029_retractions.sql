-- What was taken back of what happened in a collection, for those who were told of it: up to which activity there are still some,
-- and which are gone. Nothing is named where there were too many.
CREATE TABLE retractions (
    collection_id BIGINT NOT NULL,
    retraction_id BIGINT NOT NULL,
    left_to BIGINT NOT NULL,
    taken_back TEXT,
    PRIMARY KEY (collection_id, retraction_id)
);
