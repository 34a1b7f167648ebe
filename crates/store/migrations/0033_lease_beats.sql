-- Whoever follows a chain raises a counter: clocks of servers are compared no more.
ALTER TABLE chain_leases ADD COLUMN beat BIGINT NOT NULL DEFAULT 0;
