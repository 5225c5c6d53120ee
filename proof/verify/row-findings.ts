import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { EventBehind, RowFinding } from '#shared/rest/verification-report.ts';
import { type Comparison, compare, type Difference } from './compare.ts';
import type { Findings } from './findings.ts';
import { isPersonal } from './readable.ts';

type Against = 'row' | 'fold';

type Context = {
  readonly eventLog: EventLog;
  readonly tables: Tables;
  /** The position up to which rows are compared. */
  readonly upTo: Position;
  readonly showPersonal: boolean;
  readonly findings: Findings;
};

/** Compares, and reports differences with the events behind them. */
export const compareRows = async (
  connection: Connection,
  against: Against,
  comparison: Comparison,
  context: Context,
): Promise<void> => {
  const { findings } = context;
  const { listed, ...totals } = await compare(connection, comparison);
  const counts = { missing: 0, extra: 0, different: 0 };
  for (const difference of listed) {
    const how = difference.found === null ? 'missing' : difference.recorded === null ? 'extra' : 'different';
    if (!findings.isWanted(`${against}_${how}`)) continue;
    findings.add(
      await explained({ kind: `${against}_${how}`, table: comparison.table }, difference, context),
    );
    counts[how] += 1;
  }
  for (const how of ['missing', 'extra', 'different'] as const)
    findings.addUnlisted(`${against}_${how}`, totals[how] - counts[how]);
};

const explained = async (
  { kind, table }: Pick<RowFinding, 'kind' | 'table'>,
  { key, recorded, found }: Difference,
  { eventLog, tables, upTo, showPersonal }: Context,
): Promise<RowFinding> => {
  const stream = streamOf(tables, table, key);
  const names = Object.keys(recorded ?? found ?? {});
  const columns = names
    .map((name) => ({ name, recorded: recorded?.[name] ?? null, found: found?.[name] ?? null }))
    .filter(({ recorded: one, found: other }) => one !== other)
    .map((column) =>
      showPersonal || !isPersonal(tables, table, column.name) ? bounded(column) : hidden(column),
    );
  return { kind, table, key, stream, columns, ...(await behind(eventLog, stream, upTo)) };
};

/**
 * The key of a parked item is its stream, that of a removed one its table and id; that of an item includes
 * its aggregate.
 */
const streamOf = (tables: Tables, table: string, key: string): StreamName => {
  const [name = '', id] =
    table === 'removed' ? key.split(' ') : [table === 'departed' ? 'users' : table, key];
  const found = tables.named(name);
  if (found === undefined) return key as StreamName;
  return `${found.kind}-${'key' in found ? id?.split('.')[0] : id}` as StreamName;
};

type Column = RowFinding['columns'][number];

const hidden = ({ name, recorded, found }: Column): Column => ({
  name,
  recorded: recorded && HIDDEN,
  found: found && HIDDEN,
});
const HIDDEN = '(personal)';

const CHARACTERS_MAX = 300;

/** Two long texts are shown from their first difference. */
const bounded = ({ name, recorded, found }: Column): Column => {
  const from =
    recorded !== null && found !== null ? Math.max(partingOf(recorded, found) - CHARACTERS_MAX / 2, 0) : 0;
  return { name, recorded: recorded && cut(recorded, from), found: found && cut(found, from) };
};

const partingOf = (one: string, other: string): number => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
};

const cut = (text: string, from: number): string =>
  `${from > 0 ? '…' : ''}${text.slice(from, from + CHARACTERS_MAX)}${text.length > from + CHARACTERS_MAX ? '…' : ''}`;

const EVENTS_MAX = 10;

const behind = async (
  eventLog: EventLog,
  stream: StreamName,
  upTo: Position,
): Promise<Pick<RowFinding, 'events' | 'eventsTotal'>> => {
  let latest: readonly RecordedEvent[] = [];
  let eventsTotal = 0;
  for await (const page of eventLog.read(stream)) {
    const until = page.filter(({ position }) => position <= upTo);
    eventsTotal += until.length;
    latest = [...latest, ...until].slice(-EVENTS_MAX);
  }
  return { events: latest.map(behindOf), eventsTotal };
};

/** A damaged event may have no metadata. */
const behindOf = ({ position, version, type, metadata }: RecordedEvent): EventBehind => ({
  position,
  version,
  type,
  at: textOf(metadata?.at),
  actor: textOf(metadata?.actor),
  client: textOf(metadata?.client),
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
