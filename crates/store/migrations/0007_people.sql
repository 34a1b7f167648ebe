-- People who use the console. Their words of proof are kept as hashes: a reader of the tables can sign in as nobody. Times
-- that are compared in SQL are seconds since 1970.
CREATE TABLE accounts (
    account_id BIGINT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    administrator BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    signed_in_at TEXT
);

CREATE TABLE account_sessions (
    session_hash TEXT NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_sessions_of_account ON account_sessions (account_id);

CREATE TABLE members (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL,
    role BIGINT NOT NULL,
    added_at TEXT NOT NULL,
    PRIMARY KEY (account_id, project_id)
);
CREATE INDEX members_of_project ON members (project_id);

CREATE TABLE invites (
    invite_hash TEXT NOT NULL PRIMARY KEY,
    project_id BIGINT,
    role BIGINT NOT NULL,
    made_by BIGINT,
    created_at TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
