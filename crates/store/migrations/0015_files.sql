-- What the uploaded files of a project take, so that a limit needs no sum over all assets.
CREATE TABLE project_files (
    project_id BIGINT NOT NULL REFERENCES projects (project_id),
    bytes BIGINT NOT NULL,
    PRIMARY KEY (project_id)
);

INSERT INTO project_files (project_id, bytes)
SELECT project_id, CAST(SUM(filesize) AS BIGINT) FROM hosted_assets GROUP BY project_id;

-- Whether any asset still has a file.
CREATE INDEX hosted_assets_of_content ON hosted_assets (content_hash);
