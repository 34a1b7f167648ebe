-- How the storefronts of projects look, and what they trade and sell.
CREATE TABLE storefronts (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    domain TEXT,
    content TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id)
);
CREATE UNIQUE INDEX storefronts_by_domain ON storefronts (domain);
