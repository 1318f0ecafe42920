-- What reflections tell, for displays on any machine.

-- How many messages were told in a bank. Whoever tells locks this row, takes the next numbers, and lets go when the
-- messages are there for all to see. So numbers appear in the order of the commits, and whoever has seen one has seen all
-- before it. A sequence would not do: it hands out 7 and 8, 8 may be seen first, and a reader that went on to 8 would
-- never come back for 7.
CREATE TABLE archivist.feeds (
    bank bigint PRIMARY KEY REFERENCES archivist.banks,
    last bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE archivist.events (
    bank bigint NOT NULL REFERENCES archivist.banks,
    number bigint NOT NULL,
    -- Given by whoever tells: a message that is told again, because the connection broke over it, is there once.
    key text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    record text NOT NULL,
    PRIMARY KEY (bank, number),
    UNIQUE (bank, key)
);
