-- Not logged: what a crash forgets is worth a few seconds of requests, and no request should wait for the disk.
create unlogged table rate_limit (
  -- The hash of policy and key: of one length, and not an address in clear.
  key           text collate "C" primary key,
  -- The theoretical arrival, in microseconds since 1970 by this server's clock.
  arrival_us    bigint  not null,
  -- The answer to whoever asked last, which `returning` could not tell otherwise.
  asked_at_us   bigint  not null,
  allowed       boolean not null
)
-- Room on each page for the next version of a row, which then touches no index.
with (fillfactor = 70);
