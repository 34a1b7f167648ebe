-- A transfer that was told of and taken back.
INSERT INTO retractions (collection_id, retraction_id, left_to, taken_back)
VALUES (1, 1, 0, '[]');
