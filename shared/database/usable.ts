import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { LIVE, NEXT, PREVIOUS } from './read-model-schemas.ts';

/** The host of a setting, as sentences name it. */
export type Found = { readonly host: string; readonly setting: string; readonly majorMin: number };

const PAGE = 'docs/postgresql.md';
const ENCODING = 'UTF8';
/** Our transactions and triggers rely on these parameters, and a session cannot set all of them itself. */
const DEMANDED = {
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  session_replication_role: 'origin',
};

/** One snapshot for everything: another process may be creating its first tables. */
const BEGIN = 'begin isolation level repeatable read';

const FACTS = `
  select current_setting('server_version_num')::integer / 10000 as major,
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as "isStandby",
    (select json_object_agg(name, setting) from pg_settings where name = any($1)) as settings,
    quote_ident(current_user) as role,
    quote_ident(current_database()) as database,
    has_database_privilege(current_database(), 'CREATE') as "mayMakeSchemas",
    coalesce((select has_schema_privilege(oid, 'USAGE') and has_schema_privilege(oid, 'CREATE') from pg_namespace where nspname = 'public'), false)
      as "mayMakeTables",
    coalesce((
      select json_object_agg(nspname, has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT') and has_table_privilege(c.oid, 'INSERT'))
      from pg_class c join pg_namespace n on n.oid = relnamespace
      where relname = 'annals_migration' and 2 = (select count(*) from pg_attribute where attrelid = c.oid and attname in ('component', 'checksum'))
    ), '{}') as made`;

type Facts = {
  readonly major: number;
  readonly encoding: string;
  readonly isStandby: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly role: string;
  readonly database: string;
  readonly mayMakeSchemas: boolean;
  readonly mayMakeTables: boolean;
  /** The schemas that record our migrations, and whether they are readable and writable. */
  readonly made: Readonly<Record<string, boolean>>;
};

const STRANGERS = `
  select 'table public.' || quote_ident(relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
  where nspname = 'public' and relname = any($1)
  union all select 'schema ' || quote_ident(nspname) from pg_namespace where nspname = any($2)
  order by 1`;

/**
 * The reason why a server is unusable, in one sentence with the remedy; undefined if it is usable. Creates
 * nothing.
 */
export const whyUnusable = async (client: pg.Client, found: Found): Promise<string | undefined> => {
  await client.query(BEGIN);
  const { rows } = await client.query<Facts>(FACTS, [Object.keys(DEMANDED)]);
  const [facts] = rows;
  if (facts === undefined) throw new Error('PostgreSQL did not report its settings');
  const reason = ofServer(facts, found) ?? ofTables(facts, found);
  if (reason !== undefined || 'public' in facts.made) return reason;
  const names = await readOwnNames(found.setting === 'DATABASE_URL' ? undefined : 'shared/event-log');
  return (await ofStrangers(client, names, facts, found)) ?? ofRights(facts, found);
};

const ofServer = (facts: Facts, { host, setting, majorMin }: Found): string | undefined => {
  const { major, encoding, isStandby, settings, role, database } = facts;
  if (major < majorMin)
    return `PostgreSQL at ${host} is version ${major}, but Annals needs ${majorMin} or newer: upgrade it, or set ${setting} to a newer server.`;
  if (encoding !== ENCODING)
    return `The database ${database} at ${host} has the encoding ${encoding}, but Annals needs ${ENCODING}: create another database (${PAGE}), and set ${setting} to it.`;
  if (isStandby)
    return `PostgreSQL at ${host} is a standby, which accepts no writes: set ${setting} to the primary.`;
  for (const [name, demanded] of Object.entries(DEMANDED)) {
    if (settings[name] !== demanded)
      return (
        `PostgreSQL at ${host} has ${name} set to “${settings[name]}”, but Annals needs “${demanded}”: run ` +
        `alter role ${role} in database ${database} set ${name} = '${demanded}'.`
      );
  }
  return undefined;
};

const ofTables = ({ made, role, database }: Facts, { host }: Found): string | undefined => {
  if (made.public === false)
    return `The role ${role} may not use the tables of Annals in the database ${database} at ${host}: connect as their owner, or give them to ${role} (${PAGE}).`;
  const [elsewhere] = Object.keys(made);
  if (made.public === undefined && elsewhere !== undefined)
    return `In the database ${database} at ${host}, an earlier release created its tables in the schema ${elsewhere}: move them to public (${PAGE}, “Tables in another schema”).`;
  return undefined;
};

const ofStrangers = async (
  client: pg.Client,
  names: OwnNames,
  { database }: Facts,
  { host, setting }: Found,
): Promise<string | undefined> => {
  const versions = setting === 'DATABASE_URL' ? [LIVE, NEXT, PREVIOUS].map(({ schema }) => schema) : [];
  const { rows } = await client.query<{ name: string }>(STRANGERS, [
    [...names.tables, 'annals_migration'],
    [...names.schemas, ...versions],
  ]);
  const [first, ...others] = rows;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `The database ${database} at ${host} has a ${first.name}${more} that Annals did not create, but Annals needs ${others.length === 0 ? 'this name' : 'these names'}: create a database for Annals alone (${PAGE}), and set ${setting} to it.`;
};

const ofRights = (
  { mayMakeSchemas, mayMakeTables, role, database }: Facts,
  { host }: Found,
): string | undefined => {
  const grants = [
    ...(mayMakeSchemas ? [] : [`grant create on database ${database} to ${role}`]),
    ...(mayMakeTables ? [] : [`grant usage, create on schema public to ${role}`]),
  ];
  if (grants.length === 0) return undefined;
  return `The role ${role} may not create the tables of Annals in the database ${database} at ${host}: run ${grants.join('; ')} (${PAGE}).`;
};

/**
 * The objects that the migrations create: tables without a schema name, which are in `public`, and schemas
 * with all that they contain.
 */
type OwnNames = { readonly tables: readonly string[]; readonly schemas: readonly string[] };

/** Paths of migrations begin here. */
export const MIGRATIONS_ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MIGRATIONS = '*/**/[0-9][0-9][0-9][0-9]-*.sql';
/** `dist` has the package, once it was built here, with a copy of each. */
const LEFT_OUT = /(?:^|\/)(?:node_modules|test|bench|dist)$/;

/** The migrations of all components, or of those below a folder, by their paths from the root. */
export const listMigrations = async (folder = '.'): Promise<readonly string[]> => {
  const files = glob(MIGRATIONS, {
    cwd: join(MIGRATIONS_ROOT, folder),
    exclude: (path) => LEFT_OUT.test(path),
  });
  return (await Array.fromAsync(files)).map((file) => join(folder, file)).toSorted();
};

const TABLE = /^create (?:unlogged )?table (?:if not exists )?(\w+)(?=\s|\()/gm;
const SCHEMA = /^create schema (?:if not exists )?(\w+)/gm;

export const readOwnNames = async (folder?: string): Promise<OwnNames> => {
  const sql = await Promise.all(
    (await listMigrations(folder)).map((file) => readFile(join(MIGRATIONS_ROOT, file), 'utf8')),
  );
  const named = (pattern: RegExp) => [
    ...new Set(sql.flatMap((text) => [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []))),
  ];
  return { tables: named(TABLE), schemas: named(SCHEMA) };
};
