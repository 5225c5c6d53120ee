-- Agents that have acted for a user by token exchange, the last time with these scopes through this application, until the user ends them.
-- Numbers of users and ids of clients alone.
create table auth.agent (
  user_id     bigint      not null,
  agent       text        not null,
  application text        not null,
  grant_id    text        not null,
  scopes      text[]      not null,
  since       timestamptz not null default now(),
  used_at     timestamptz not null default now(),
  ended_at    timestamptz,
  expires_at  timestamptz not null,
  primary key (user_id, agent)
);

create index agent_by_expiry on auth.agent (expires_at);

-- Their tokens that may still be valid, to revoke them.
create table auth.agent_token (
  jti        text        primary key,
  user_id    bigint      not null,
  agent      text        not null,
  expires_at timestamptz not null
);

create index agent_token_by_agent on auth.agent_token (user_id, agent);
create index agent_token_by_expiry on auth.agent_token (expires_at);
