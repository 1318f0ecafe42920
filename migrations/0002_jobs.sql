-- What is to be done, by whichever machine has time for it.

-- Numbers every taking of a job. Whoever holds a smaller number than the job's own has lost it.
CREATE SEQUENCE archivist.job_claims;

-- One row a project. Whoever takes, asks for or settles a job of a project locks its row first, so that all that is
-- derived here is true, and projects never wait for each other.
CREATE TABLE archivist.lanes (
    bank bigint PRIMARY KEY REFERENCES archivist.banks,
    -- When the first waiting job of each urgency is due; NULL: none waits.
    due_over timestamptz,
    due_pause timestamptz,
    due_sweep timestamptz,
    due_at timestamptz GENERATED ALWAYS AS (LEAST(due_over, due_pause, due_sweep)) STORED,
    -- How many of its jobs are in workers' hands.
    busy integer NOT NULL DEFAULT 0,
    -- The project that was served longest ago is served next.
    served_at timestamptz NOT NULL DEFAULT '-infinity',
    -- Grows whenever a job comes, goes or is settled.
    changes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX lanes_due ON archivist.lanes (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE archivist.jobs (
    bank bigint NOT NULL REFERENCES archivist.lanes,
    name text NOT NULL,
    -- Jobs about the same session have this in common. One of them waits at most, and one is worked on.
    subject text NOT NULL,
    -- 0: it waits; 1: a worker has it; 2: it was put aside; 3: it is done.
    place smallint NOT NULL,
    -- It waits for another job about the same, which a worker has.
    is_held boolean NOT NULL DEFAULT false,
    -- 0: the session is over; 1: it may go on; 2: nobody waits for it.
    urgency smallint NOT NULL,
    log_bytes bigint,
    enqueued_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    -- The fencing token.
    claim bigint NOT NULL DEFAULT 0,
    -- Which call took it: one whose connection broke finds out here whether it had.
    call text,
    worker text,
    lease_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    record text NOT NULL,
    note text,
    settled_at timestamptz,
    PRIMARY KEY (bank, name)
) WITH (fillfactor = 70);
CREATE INDEX jobs_waiting ON archivist.jobs (bank, urgency, due_at, name) WHERE place = 0 AND NOT is_held;
CREATE INDEX jobs_subject ON archivist.jobs (bank, subject) WHERE place IN (0, 1);
CREATE INDEX jobs_claimed ON archivist.jobs (bank, lease_until) WHERE place = 1;
CREATE INDEX jobs_done ON archivist.jobs (settled_at) WHERE place = 3;
