-- What was used of limits within the last minutes, by the server through which it was, so that a limit is one for all servers.
CREATE TABLE rate_uses (
    minute BIGINT NOT NULL,
    server TEXT NOT NULL,
    bucket TEXT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (minute, server, bucket)
);
