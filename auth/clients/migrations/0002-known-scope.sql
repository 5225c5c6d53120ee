-- Since when the domain has had a scope: a client that was changed last before that lacks it because nobody has decided about it.
create table auth.known_scope (
  scope text        primary key,
  since timestamptz not null
);
