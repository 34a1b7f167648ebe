-- The second factor of accounts: what an authenticator app computes codes from. Of a secret a hash would not do, as the codes
-- are computed here as well. It counts once somebody has shown a code of it.
CREATE TABLE second_factors (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (account_id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    confirmed_at TEXT,
    used_step BIGINT NOT NULL,
    tried_hour BIGINT NOT NULL,
    tries BIGINT NOT NULL
);

-- What lets somebody in who lost the app, each once.
CREATE TABLE recovery_codes (
    account_id BIGINT NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    PRIMARY KEY (account_id, code_hash)
);

-- Who has shown the password and not yet the second factor. No session: it lets nobody see anything.
CREATE TABLE pending_sign_ins (
    session_hash TEXT NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);
CREATE INDEX pending_sign_ins_of_account ON pending_sign_ins (account_id);
