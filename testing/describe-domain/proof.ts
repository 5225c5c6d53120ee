import type { Domain } from '#kernel/registry/registry.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { Source } from '../../query/rows/source.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import { operate } from '../installation.ts';
import type { Checks } from './checks.ts';
import { type Forgery, forge, ROWS_MAX, type Table } from './forgery.ts';
import { holdUser, release } from './holds.ts';
import { isCrowded, type Stage } from './stage.ts';

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
  const releaseUser = await holdSomebody(stage);
  await stage.read('/me', stage.admin);
  checks.equal(await findings(stage), [], 'nothing is found before anything is tampered with');
  for (const tables of batchesOf(tablesIn(stage))) await checkTables(stage, checks, tables);
  checks.equal(await findings(stage), [], 'nothing is found once all is as it was');
  await releaseUser();
  await stage.session.write('DELETE', webhook, { token: stage.admin.token });
};

/** The table of holds on users has a row only while somebody is held. */
const holdSomebody = async (stage: Stage): Promise<() => Promise<void>> => {
  const { user } = stage.domain.kinds;
  const id = stage.actors.find(({ isPerson }) => isPerson)?.userId ?? null;
  if (user?.hold !== true || id === null) return async () => {};
  const hold = await holdUser(stage, id);
  return () => release(stage, { kind: user, id }, [hold]);
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

/** The name under which its checks are counted: by table. */
const tampered = (table: string): string => `the columns of ${table}`;
export const tamperedTables = (domain: Domain): readonly string[] => {
  const { ofStreams, views } = tablesOf(domain);
  return [...ofStreams, ...views].map(({ name }) => tampered(name));
};

export const findings = async ({ installation, served }: Stage): Promise<readonly Finding[]> => {
  const printed = await operate(['audit', 'verify', '--json'], installation.settings, served).catch(
    (error: Error) => error.message,
  );
  const report = printed.split('\n').find((line) => line.startsWith('{'));
  if (report === undefined) throw new Error(`there is no report: ${printed}`);
  return (JSON.parse(report) as { readonly findings: { readonly listed: readonly Finding[] } }).findings
    .listed;
};
