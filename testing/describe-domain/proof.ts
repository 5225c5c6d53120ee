import type { Domain } from '#kernel/registry/registry.ts';
import { CHANGED } from '#kernel/rows/view-table.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { type Source, sourcesOf } from '../../query/sources.ts';
import { otherThan } from '../database/other-than.ts';
import { inDatabase } from '../database/search-everywhere.ts';
import { operate } from '../installation.ts';
import type { Checks } from './checks.ts';
import { isCrowded, type Stage } from './stage.ts';

type Column = { readonly name: string; readonly type: string };
type Table = {
  readonly table: string;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly keys: readonly string[];
};
type Finding = {
  readonly kind: string;
  readonly table?: string;
  readonly columns?: readonly { readonly name: string }[];
};

/**
 * Changes each column of each table directly in the database: verification finds every change, and none once
 * it is reverted.
 */
export const checkTampering = async (stage: Stage, checks: Checks): Promise<void> => {
  if (!isCrowded(stage.domain)) for (const situation of stage.found.situations) await stage.shared(situation);
  const webhook = await makeWebhook(stage);
  await stage.read('/', stage.admin);
  checks.equal(await findings(stage), [], 'nothing is found before anything is tampered with');
  for (const tables of batchesOf(tablesIn(stage))) await checkTables(stage, checks, tables);
  checks.equal(await findings(stage), [], 'nothing is found once all is as it was');
  await stage.session.write('DELETE', webhook, { token: stage.admin.token });
};

/** Its table has a row only while there is a webhook. Returns its path. */
const makeWebhook = async ({ session, sink, domain, admin }: Stage): Promise<string> => {
  const { written } = await session.write('POST', '/webhooks', {
    token: admin.token,
    body: { url: `${sink.url}/tampering`, eventTypes: [`${Object.keys(domain.kinds)[0]}.*`] },
  });
  return `/webhooks/${written.id}`;
};

export const tablesIn = ({ domain }: Stage): readonly Table[] => {
  const all = sourcesOf(domain).all.flatMap((source) => [source, ...source.items]);
  const words = new Map(all.map(({ table, members }) => [table, valuesIn(members)]));
  const { ofStreams, views } = tablesOf(domain);
  const tables = [
    ...ofStreams.map((each) => [each.name, 'key' in each ? each.key : ['id']] as const),
    ...views.map(({ name, keys }) => [name, keys] as const),
  ];
  return tables.map(([name, keys]) => ({
    table: `read_model.${name}`,
    values: words.get(`read_model.${name}`) ?? new Map(),
    keys,
  }));
};

const valuesIn = (members: Source['members']): ReadonlyMap<string, readonly string[]> =>
  new Map(
    members.flatMap(({ column, def: { values } }) =>
      values === undefined ? [] : [[column, values] as const],
    ),
  );

/** A verification lists twenty rows that differ. */
const LISTED_MAX = 20;
const ROWS_MAX = 5;

/** Each verification reads the whole log, so it is given as many tables as it lists rows of. */
const batchesOf = (tables: readonly Table[]): readonly (readonly Table[])[] => {
  const size = Math.floor(LISTED_MAX / ROWS_MAX);
  return Array.from({ length: Math.ceil(tables.length / size) }, (_, index) =>
    tables.slice(index * size, (index + 1) * size),
  );
};

/** Changes every column in some row. A changed key shows as a missing row and a surplus one. */
const checkTables = async (stage: Stage, checks: Checks, tables: readonly Table[]): Promise<void> => {
  const { DATABASE_URL = '' } = stage.installation.settings;
  await using forgeries = new AsyncDisposableStack();
  const all: Forgery[] = [];
  for (const table of tables) all.push(forgeries.use(await forge(DATABASE_URL, table)));
  const found = await findings(stage);
  for (const forgery of all) {
    const name = forgery.table.table.split('.')[1] ?? '';
    checkFound(
      checks,
      forgery,
      found.filter((finding) => finding.table === name),
    );
  }
};

const checkFound = (checks: Checks, { table, columns, rows }: Forgery, found: readonly Finding[]): void => {
  const named = new Set(found.flatMap(({ columns: of = [] }) => of.map(({ name }) => name)));
  // A row with another key shows as one missing and one surplus row.
  const isOther = ['missing', 'extra'].every((word) => found.some(({ kind }) => kind.includes(word)));
  for (const name of columns) {
    const isFound = table.keys.includes(name) ? isOther : named.has(name);
    checks
      .of(tampered(table.table.split('.')[1] ?? ''))
      .equal(
        isFound,
        true,
        `${table.table}.${name} that was forged is found: ${JSON.stringify(found).slice(0, 1_000)}`,
      );
  }
  checks.equal(
    found.length >= rows,
    true,
    `as many findings in ${table.table} as rows were forged: ${found.length} of ${rows}`,
  );
};

type Forgery = AsyncDisposable & {
  readonly table: Table;
  readonly columns: readonly string[];
  readonly rows: number;
};

/** Its disposal reverts it. */
const forge = async (url: string, of: Table): Promise<Forgery> => {
  const { table, values, keys } = of;
  const stored = await columnsOf(url, table);
  const names = stored.map(({ name }) => name).join();
  const kept = `public.kept_${table.split('.')[1]}`;
  // The column that streams follow carries no content, and changes in a rebuild.
  const columns = stored.filter(({ name }) => name !== CHANGED);
  const places = await inDatabase(url, async (client) => {
    await client.query(`create table ${kept} as select ${names} from ${table}`);
    const { rows } = await client.query<{ ctid: string }>(
      `select ctid::text from ${table} order by 1 limit ${ROWS_MAX}`,
    );
    const all = placesFor(rows, columns, keys);
    for (const { ctid, changed } of all) {
      const set = changed.map(({ name, type }) => `${name} = ${otherIn(values, name, type)}`);
      await client.query(`update ${table} set ${set.join(', ')} where ctid = '${ctid}'`);
    }
    return all;
  });
  return {
    table: of,
    columns: places.flatMap(({ changed }) => changed.map(({ name }) => name)),
    rows: places.length,
    [Symbol.asyncDispose]: () =>
      inDatabase(url, async (client) => {
        await client.query(`delete from ${table}`);
        await client.query(`insert into ${table} (${names}) select ${names} from ${kept}`);
        await client.query(`drop table ${kept}`);
      }),
  };
};

/** The name under which its checks are counted: by table. */
const tampered = (table: string): string => `the columns of ${table}`;
export const tamperedTables = (domain: Domain): readonly string[] => {
  const { ofStreams, views } = tablesOf(domain);
  return [...ofStreams, ...views].map(({ name }) => tampered(name));
};

type Forged = { readonly ctid: string; readonly changed: readonly Column[] };
/**
 * Assigns every column to a row: each key to a row in which nothing else is changed, as long as there are
 * rows, and the others in turn.
 */
const placesFor = (
  rows: readonly { readonly ctid: string }[],
  columns: readonly Column[],
  keys: readonly string[],
): readonly Forged[] => {
  const isKey = ({ name }: Column): boolean => keys.includes(name);
  const ofKeys = columns.filter(isKey);
  const others = columns.filter((each) => !isKey(each));
  const forKeys = rows.slice(0, Math.min(ofKeys.length, rows.length - 1));
  const rest = rows.slice(forKeys.length);
  return [
    ...forKeys.map(({ ctid }, index) => ({ ctid, changed: ofKeys.slice(index, index + 1) })),
    ...rest.map(({ ctid }, index) => ({
      ctid,
      changed: others.filter((_, place) => place % rest.length === index),
    })),
  ].filter(({ changed }) => changed.length > 0);
};

const columnsOf = (url: string, table: string): Promise<readonly Column[]> =>
  inDatabase(url, async (client) => {
    const { rows } = await client.query<Column>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
      [table],
    );
    return rows;
  });

const otherIn = (values: ReadonlyMap<string, readonly string[]>, name: string, type: string): string => {
  const words = values.get(name);
  if (words === undefined) return otherThan(name, type);
  const next = words.map((word, index) => `when '${word}' then '${words[(index + 1) % words.length]}'`);
  return `case ${name} ${next.join(' ')} end`;
};

export const findings = async ({ installation, domain }: Stage): Promise<readonly Finding[]> => {
  const printed = await operate(['audit', 'verify', '--json'], installation.settings, domain).catch(
    (error: Error) => error.message,
  );
  const report = printed.split('\n').find((line) => line.startsWith('{'));
  if (report === undefined) throw new Error(`there is no report: ${printed}`);
  return (JSON.parse(report) as { readonly findings: { readonly listed: readonly Finding[] } }).findings
    .listed;
};
