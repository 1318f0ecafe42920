-- That something was erased for good, and when, without what: a note of counts, and keyed hashes of sessions that are not to
-- be learned from again. Whoever keeps episodes in memory reads them anew once there is another note.

CREATE TABLE archivist.erasures (
    bank bigint NOT NULL REFERENCES archivist.banks,
    id text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    record text NOT NULL,
    -- Grows whenever something is erased with this note, also if it is done again after an interruption.
    times bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (bank, id)
);

CREATE POLICY own_banks ON archivist.erasures USING (bank IN (SELECT m.bank FROM archivist.members m
    WHERE EXISTS (SELECT FROM pg_roles r WHERE r.rolname = m.role AND pg_has_role(current_user, r.oid, 'member'))));

-- Row security and rights as they were given for lessons.
DO $$
DECLARE
    given record;
BEGIN
    IF (SELECT relrowsecurity FROM pg_class WHERE oid = 'archivist.lessons'::regclass) THEN
        ALTER TABLE archivist.erasures ENABLE ROW LEVEL SECURITY;
    END IF;
    FOR given IN
        SELECT a.privilege_type AS may, coalesce(quote_ident(r.rolname), 'PUBLIC') AS who
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.oid = 'archivist.lessons'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE 'GRANT ' || given.may || ' ON archivist.erasures TO ' || given.who;
    END LOOP;
END
$$;
