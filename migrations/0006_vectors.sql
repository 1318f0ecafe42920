-- What lessons mean, as sentence models tell it: one vector of length one for each unit of a lesson's text. Derived: whoever
-- asks first, or the reflection that wrote a lesson, writes its vectors, and the commit that changes it takes them away.
-- So only the newest versions of lessons that may be given have any. No extension is needed; where `vector` is
-- installed, the server compares.

CREATE TABLE archivist.vectors (
    bank bigint NOT NULL REFERENCES archivist.banks,
    -- Two models, and two lengths of one model's vectors, have nothing to do with each other.
    model text NOT NULL,
    dimensions integer NOT NULL,
    lesson text NOT NULL,
    version bigint NOT NULL,
    -- Which unit of how many.
    unit smallint NOT NULL,
    units smallint NOT NULL,
    numbers real[] NOT NULL,
    PRIMARY KEY (bank, model, dimensions, lesson, version, unit),
    CHECK (cardinality(numbers) = dimensions)
);
CREATE INDEX vectors_lesson ON archivist.vectors (bank, lesson);

CREATE POLICY own_banks ON archivist.vectors USING (bank IN (SELECT m.bank FROM archivist.members m
    WHERE EXISTS (SELECT FROM pg_roles r WHERE r.rolname = m.role AND pg_has_role(current_user, r.oid, 'member'))));

-- Row security and rights as they were given for lessons.
DO $$
DECLARE
    given record;
BEGIN
    IF (SELECT relrowsecurity FROM pg_class WHERE oid = 'archivist.lessons'::regclass) THEN
        ALTER TABLE archivist.vectors ENABLE ROW LEVEL SECURITY;
    END IF;
    FOR given IN
        SELECT a.privilege_type AS may, coalesce(quote_ident(r.rolname), 'PUBLIC') AS who
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.oid = 'archivist.lessons'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE 'GRANT ' || given.may || ' ON archivist.vectors TO ' || given.who;
    END LOOP;
END
$$;
