-- A taker who has logged in at a marketplace.
INSERT INTO consents (taker, marketplace, subject, proof, good_until)
VALUES ('0x00000000000000000000000000000000000000a1', 1, 'login', 'proof', 2056320000);
