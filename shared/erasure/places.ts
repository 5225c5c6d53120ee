import type { UserId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Pool } from '#shared/database/pool.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { type CountedCopy, type CountedTable, countCopies, countVerificationTables } from './count-copies.ts';
import { exportPlace } from './exports.ts';
import { countOf } from './looks.ts';
import { countOfLook, looksOf, SCHEMAS, TABLES, TABLES_OF_READ_MODEL } from './tables-of-product.ts';
import { type UploadsOf, uploadPlace } from './uploads.ts';

type Place = ErasureReport['places'][number];

type Placing = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly blobs: Pick<Blobs, 'find'> | undefined;
  readonly auditDir: string;
};

/** The log’s data about a person. */
type InLog = {
  readonly sealed: number;
  readonly uploads: UploadsOf;
  readonly isKeyDestroyed: boolean;
  readonly hasKey: boolean;
};

/**
 * Every place that could hold data of a person, with its content: each table of the database, by the catalog
 * of PostgreSQL and the declaration of the domain, and the places outside of it.
 */
export const placesOf = async (
  { pool, domain, blobs, auditDir }: Placing,
  userId: UserId,
  inLog: InLog,
): Promise<readonly Place[]> => {
  const tables = tablesOf(domain);
  const [all, copies, verifications] = [
    await selectTables(pool),
    await countCopies({ pool, tables }, userId),
    await countVerificationTables({ pool, tables }, userId),
  ];
  const known = new Map([...copies, ...verifications].map((each) => [each.place, each]));
  const readModels = new Set(copies.map(({ schema }) => schema));
  const views = new Set(tables.views.map(({ name }) => name));
  const placed: Place[] = [];
  for (const { place, schema, name } of all) {
    const counted = known.get(place);
    if (counted !== undefined) placed.push(countedPlace(counted));
    else if (readModels.has(schema) || SCRATCH.test(schema))
      placed.push(readModelPlace(place, name, { tables, views }));
    else placed.push(await productPlace(pool, { place, schema }, userId));
  }
  return [
    logPlace(inLog),
    keyPlace(inLog),
    ...placed,
    await uploadPlace(inLog.uploads, blobs),
    await exportPlace(auditDir, userId),
    ...OUTSIDE,
  ];
};

const SCRATCH = /^(?:verify|replay)_/;

export type NamedTable = { readonly place: string; readonly schema: string; readonly name: string };

/** Every table of the database. */
export const selectTables = async (pool: Pool): Promise<readonly NamedTable[]> => {
  const { rows } = await pool.query<NamedTable>(
    `select format('%I.%I', nspname, relname) as place, quote_ident(nspname) as schema, relname as name
     from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p', 'm') and not relispartition and nspname <> 'information_schema' and nspname !~ '^pg_' order by 1`,
  );
  return rows;
};

const verdictOf = (left: number): Place['verdict'] => (left === 0 ? 'erased' : 'left');

const countedPlace = ({ place, rows, left, says }: CountedCopy | CountedTable): Place => ({
  place,
  verdict: verdictOf(left),
  rows,
  left,
  says,
});

type Declared = { readonly tables: ReturnType<typeof tablesOf>; readonly views: ReadonlySet<string> };

/** The table has no column that the domain declares as personal, or its rows would have been counted. */
const readModelPlace = (place: string, name: string, { tables, views }: Declared): Place => {
  const of = tables.named(name);
  const says = views.has(name)
    ? 'a view: numbers and latest values, no personal data'
    : of !== undefined
      ? 'no personal data, as the domain declares'
      : TABLES_OF_READ_MODEL[name];
  return says === undefined ? unknownPlace(place) : { place, verdict: 'nothing', rows: null, left: 0, says };
};

const productPlace = async (
  pool: Pool,
  { place, schema }: Pick<NamedTable, 'place' | 'schema'>,
  userId: UserId,
): Promise<Place> => {
  const held = TABLES[place] ?? SCHEMAS[schema];
  if (held === undefined) return unknownPlace(place);
  const { holds, says } = held;
  if (holds !== 'personal') return { place, verdict: holds, rows: null, left: 0, says };
  const counts = await Promise.all(looksOf(held).map((look) => countOf(pool, countOfLook(look), userId)));
  const left = counts.reduce((sum, count) => sum + count, 0);
  return { place, verdict: verdictOf(left), rows: null, left, says };
};

const unknownPlace = (place: string): Place => ({
  place,
  verdict: 'unknown',
  rows: null,
  left: 0,
  says: 'not a table of this release, so it was not searched: ask its creator what it contains',
});

const logPlace = ({ sealed, isKeyDestroyed }: InLog): Place => ({
  place: 'event log',
  verdict: isKeyDestroyed ? 'sealed' : 'left',
  rows: sealed,
  left: isKeyDestroyed ? 0 : sealed,
  says: 'events with personal fields of the person stay, encrypted under the key of the person: nobody can decrypt them without the key',
});

const keyPlace = ({ isKeyDestroyed, hasKey }: InLog): Place => ({
  place: 'key store',
  verdict: verdictOf(hasKey && !isKeyDestroyed ? 1 : 0),
  rows: hasKey ? 1 : 0,
  left: hasKey && !isKeyDestroyed ? 1 : 0,
  says: 'the key of the person, which every process forgets within five seconds of its destruction',
});

const outside = (place: string, verdict: Place['verdict'], says: string): Place => ({
  place,
  verdict,
  rows: null,
  left: 0,
  says,
});

/** Those that no statement of ours can search. */
export const OUTSIDE: readonly Place[] = [
  outside('change stream', 'nothing', 'in PostgreSQL or Kafka: events without their personal fields'),
  outside('job queue', 'nothing', 'in PostgreSQL or Redis: ids of webhooks with waiting deliveries'),
  outside('logs of the processes', 'nothing', 'ids, and no personal fields'),
  outside(
    'files of PostgreSQL',
    'unreachable',
    'former versions of rows until vacuum, replicas, archives of the write-ahead log: let them expire',
  ),
  outside(
    'backups',
    'unreachable',
    'keep AUDIT_DIR/erasures.jsonl, which erases the person again after a restore, and let older backups expire',
  ),
  outside(
    'exports elsewhere',
    'unreachable',
    'files that were copied elsewhere: encrypted, unless made with --keys; destroy the latter',
  ),
  outside('receivers of webhooks and clients', 'unreachable', 'they must erase what they received or read'),
];
