-- Who may see which bank. It counts once row security is switched on (`archivist migrate --row-security on`); until then
-- banks are kept apart by the program alone. The owner of the tables sees everything.

CREATE TABLE archivist.members (
    bank bigint NOT NULL REFERENCES archivist.banks,
    role text NOT NULL,
    PRIMARY KEY (bank, role)
);

-- Everybody sees which banks are theirs, by their own name or by a role that they have.
CREATE POLICY own_roles ON archivist.members USING (
    EXISTS (SELECT FROM pg_roles WHERE rolname = role AND pg_has_role(current_user, oid, 'member'))
);

-- The same rule for every table whose rows belong to a bank.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.table_name FROM information_schema.columns c
        WHERE c.table_schema = 'archivist' AND c.column_name = 'bank' AND c.table_name <> 'members'
        ORDER BY c.table_name
    LOOP
        EXECUTE format(
            'CREATE POLICY own_banks ON archivist.%I USING (bank IN (SELECT m.bank FROM archivist.members m '
            'WHERE EXISTS (SELECT FROM pg_roles r WHERE r.rolname = m.role '
            'AND pg_has_role(current_user, r.oid, ''member''))))', name);
    END LOOP;
END
$$;
