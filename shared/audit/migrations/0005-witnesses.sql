-- What witnesses have cosigned of this log, each by the address where it is asked (C2SP tlog-witness).
create table audit.witness (
  -- The name of the log: one that lost events has another name.
  log text not null,
  url text not null,
  -- Its names in the policy.
  names text[] not null,
  -- The head that it has cosigned last, and the lines of its cosignatures.
  size bigint not null default 0,
  cosignatures text,
  cosigned_at timestamptz,
  -- Why it has not cosigned since, and since when; nothing while all is well.
  problem text,
  failing_since timestamptz,
  -- It says that this log contradicts what it has seen before.
  is_refusing boolean not null default false,
  primary key (log, url)
);

-- The newest head that enough witnesses have cosigned, with the cosignatures.
create table audit.witnessed_head (
  log text primary key,
  size bigint not null,
  note text not null,
  witnessed_at timestamptz not null
) with (fillfactor = 50);
