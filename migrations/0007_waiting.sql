-- How long a job was due before a worker first took it: what tells whether there are workers enough.

ALTER TABLE archivist.jobs ADD COLUMN waited interval;
