-- What takers have signed so that they can fill orders, good for a short time. Every server asks here before it has somebody sign
-- again.
CREATE TABLE consents (
    taker TEXT NOT NULL,
    marketplace BIGINT NOT NULL,
    subject TEXT NOT NULL,
    proof TEXT NOT NULL,
    good_until BIGINT NOT NULL,
    PRIMARY KEY (taker, marketplace, subject)
);
CREATE INDEX consents_by_end ON consents (good_until, taker, marketplace, subject);
