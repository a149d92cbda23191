-- name: free
-- One that no clock of now can have written has run out as well.
DELETE FROM conversations_lease
WHERE name = %(name)s AND lease_until NOT BETWEEN statement_timestamp() AND statement_timestamp() + %(longest)s

-- name: take
INSERT INTO conversations_lease (name, holder, lease_until)
VALUES (%(name)s, %(holder)s, statement_timestamp() + %(lasts)s) ON CONFLICT DO NOTHING RETURNING name

-- name: renew
UPDATE conversations_lease SET lease_until = statement_timestamp() + %(lasts)s
WHERE name = %(name)s AND holder = %(holder)s RETURNING name

-- name: give_back
DELETE FROM conversations_lease WHERE name = %(name)s AND holder = %(holder)s

-- name: confirm
SELECT name FROM conversations_lease
WHERE name = %(name)s AND holder = %(holder)s AND lease_until > clock_timestamp() + %(margin)s
