create schema clock;

-- How far the clocks of processes were from another clock at most, by day: for audits, which ask for the whole time of the log.
create table clock.drift (
  day date not null,
  -- The other clock: that of PostgreSQL, or of the authority that stamps heads of the log.
  against text collate "C" not null,
  -- Positive if the clock of the process was ahead.
  largest_ms double precision not null,
  -- Half of the round trip: the drift is known this exactly.
  uncertainty_ms double precision not null,
  at timestamptz not null,
  role text not null,
  -- What synchronizes the clocks, as CLOCK_SOURCE says.
  source text,
  measurements bigint not null default 1,
  primary key (day, against)
);
