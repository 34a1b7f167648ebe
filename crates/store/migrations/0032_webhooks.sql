-- Addresses that projects have told what happens, each of contracts of a chain. The holder is the server that delivers to it; the
-- empty one is nobody. A pause says why there is one, where nobody of the project made it.
CREATE TABLE webhook_listeners (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    listener_id BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    url TEXT NOT NULL,
    filters TEXT NOT NULL,
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    pause TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    holder TEXT NOT NULL,
    PRIMARY KEY (project_id, listener_id)
);

-- How far a listener was told of a collection: a place in what happened there, and how much is told of what was taken back
-- together behind it. Then how often the next failed, when it is tried again, and what went wrong last and when. Times are
-- milliseconds since 1970, 0 for none.
CREATE TABLE webhook_cursors (
    project_id BIGINT NOT NULL,
    listener_id BIGINT NOT NULL,
    collection_id BIGINT NOT NULL,
    contract_address TEXT NOT NULL,
    retractions BIGINT NOT NULL,
    activity BIGINT NOT NULL,
    told BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    failure TEXT NOT NULL,
    failed_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, listener_id, collection_id),
    FOREIGN KEY (project_id, listener_id) REFERENCES webhook_listeners (project_id, listener_id) ON DELETE CASCADE
);

-- What was tried as often as it is tried, in vain.
CREATE TABLE webhook_letters (
    project_id BIGINT NOT NULL,
    letter_id BIGINT NOT NULL,
    listener_id BIGINT NOT NULL,
    message TEXT NOT NULL,
    body TEXT NOT NULL,
    failure TEXT NOT NULL,
    failed_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, letter_id),
    FOREIGN KEY (project_id, listener_id) REFERENCES webhook_listeners (project_id, listener_id) ON DELETE CASCADE
);
CREATE INDEX webhook_letters_of_listener ON webhook_letters (project_id, listener_id, letter_id);

-- The servers that deliver, each with a counter that it raises for as long as it does.
CREATE TABLE webhook_servers (
    name TEXT NOT NULL PRIMARY KEY,
    beat BIGINT NOT NULL
);

INSERT INTO revisions (name, revision) VALUES ('webhooks', 1);
