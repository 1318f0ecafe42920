-- What models cost, by everybody: the caps of a day hold over all machines and all banks together.

-- A day in UTC. Whoever writes into its account locks this row: between what is read and what is written because of it,
-- nobody else writes. `last` counts what was written, so that whoever has read up to a number reads on behind it.
CREATE TABLE archivist.spend_days (
    day date PRIMARY KEY,
    last bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- One call each: what it may take, written before it is made, and what it did take, once it came back. One that never
-- did counts for all it may have taken.
CREATE TABLE archivist.spend (
    bank bigint NOT NULL REFERENCES archivist.banks,
    -- Given by whoever reserves: what is written again, because the connection broke over it, is there once.
    id text NOT NULL,
    day date NOT NULL REFERENCES archivist.spend_days,
    at timestamptz NOT NULL,
    project text NOT NULL,
    endpoint text NOT NULL,
    model text NOT NULL,
    reserved text NOT NULL,
    -- Which of the day's writings the reservation was, and which its settlement.
    reserved_as bigint NOT NULL,
    settled text,
    settled_as bigint,
    PRIMARY KEY (bank, id)
);
CREATE UNIQUE INDEX spend_reserved ON archivist.spend (day, reserved_as);
CREATE UNIQUE INDEX spend_settled ON archivist.spend (day, settled_as) WHERE settled_as IS NOT NULL;
