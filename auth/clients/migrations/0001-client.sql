create schema if not exists auth;

-- The applications that may ask for tokens.
create table auth.client (
  client_id                  text        primary key,
  name                       text        not null,
  -- SHA-256 of a secret of 256 random bits: nothing that a slow hash would protect better.
  secret_hash                bytea,
  token_endpoint_auth_method text        not null,
  grant_types                text[]      not null,
  redirect_uris              text[]      not null,
  post_logout_redirect_uris  text[]      not null,
  scopes                     text[]      not null,
  default_scopes             text[]      not null,
  first_party                boolean     not null,
  -- The user that the client is when it acts for itself.
  service_account            bigint,
  require_dpop               boolean     not null,
  require_par                boolean     not null,
  tls_client_auth_subject    text,
  jwks                       jsonb,
  disabled                   boolean     not null,
  -- Came by dynamic registration (RFC 7591), from whoever asked.
  self_registered            boolean     not null,
  version                    bigint      not null,
  created_at                 timestamptz not null default now(),
  updated_at                 timestamptz not null default now()
);

create index client_self_registered on auth.client (created_at) where self_registered;
