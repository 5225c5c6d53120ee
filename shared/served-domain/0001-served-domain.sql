-- Of which domain the data here is: another one would read nothing of it, and write what this one cannot read.
create table served_domain (
  name text not null,
  since timestamptz not null default now(),
  only_one boolean not null default true primary key check (only_one)
);
