import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Difference } from '#shared/audit/watch.ts';
import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/read-model/read-model.ts';
import { rowOf, type TableName } from '../../projector/aggregates.ts';
import { decodeAround } from '../../projector/decode.ts';
import { FOLDINGS } from '../verify/deciders.ts';
import { expectedRow } from './expected-row.ts';

export type RowDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Codec;
  readonly signal: AbortSignal;
};

/** The projector is at most so far behind, or the row is looked at in the next round. */
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 200;

/** Holds the row of a stream against what the deciders say of its events. Answers with the fields that differ. */
export const checkRow = async (dependencies: RowDependencies, stream: StreamName): Promise<readonly Difference[]> => {
  const place = rowOf(stream);
  if (!place) return [];
  let found: readonly Difference[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && !dependencies.signal.aborted; attempt += 1) {
    const events = (await Array.fromAsync(dependencies.eventLog.read(stream))).flat();
    const seen = await readRow(dependencies.pool, place, { stream, ownersOf: events });
    const outcome = seen && (await compare(dependencies.codec, events, { ...place, seen }));
    // What is seen twice was not in between.
    if (outcome?.length === 0 || (outcome && isDeepStrictEqual(outcome, found))) return outcome;
    found = outcome ?? [];
    await delay(ATTEMPT_PAUSE_MS, undefined, { signal: dependencies.signal }).catch(() => {});
  }
  return [];
};

type Seen = {
  readonly row: Readonly<Record<string, unknown>> | null;
  /** How far the read model was at the same moment. */
  readonly position: Position;
  readonly isParked: boolean;
  readonly leftOut: readonly Version[];
  readonly departed: readonly number[];
};

/** All of one moment. Numbers in the log are safe integers, so that JSON has them as they are. */
const readRow = async (
  pool: Pool,
  { table, id }: { readonly table: TableName; readonly id: number },
  { stream, ownersOf }: { readonly stream: StreamName; readonly ownersOf: readonly RecordedEvent[] },
): Promise<Seen | undefined> => {
  const owners = [...new Set(ownersOf.flatMap(({ data: { authorId, ownerId } }) => [authorId, ownerId]))].filter(Number.isSafeInteger);
  const { rows } = await pool.query<Seen>({
    name: `audit-watch-${table}`,
    text: `select (select row_to_json(t) from ${LIVE_SCHEMA}.${table} t where id = $1) as row,
       (select position from follower_checkpoint where follower = '${PROJECTOR}') as position,
       exists (select from ${LIVE_SCHEMA}.parked where stream = $2) as "isParked",
       array(select version from projection_skip where stream = $2) as "leftOut",
       array(select user_id from ${LIVE_SCHEMA}.departed where user_id = any($3)) as departed`,
    values: [id, stream, owners],
  });
  return rows[0];
};

type Looked = { readonly table: TableName; readonly seen: Seen };

/** Nothing, where the row is not to be compared just now, because the read model does not have all events yet or has more. */
const compare = async (
  codec: Codec,
  events: readonly RecordedEvent[],
  { table, seen }: Looked,
): Promise<readonly Difference[] | undefined> => {
  const last = events.at(-1);
  if (!last || seen.isParked) return [];
  if ((seen.position ?? START) < last.position || Number(seen.row?.version ?? 0) > last.version) return undefined;
  const { decoded, damaged } = await decodeAround(codec, events);
  // It is told of where the event itself is met.
  if (damaged.some(({ version }) => !seen.leftOut.includes(version))) return [];
  const { initial, evolve } = FOLDINGS[table];
  const applied = decoded.filter(({ version }) => !seen.leftOut.includes(version));
  const expected = expectedRow(table, applied.reduce(evolve, initial), (userId) => seen.departed.includes(userId));
  const fields = differing(expected && { ...expected, version: last.version }, seen.row && told(seen.row));
  const { stream, version, position } = last;
  return fields.length === 0 ? [] : [{ kind: 'row_different', stream, version, position, fields }];
};

/** In the words of what is expected. */
const told = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  if ('deleted_at' in row) return { ...row, is_deleted: row.deleted_at !== null };
  const { old_secrets_end_at: end } = row;
  return typeof end === 'string' ? { ...row, old_secrets_end_at: new Date(end).toISOString() } : row;
};

const differing = (
  expected: Readonly<Record<string, unknown>> | undefined,
  row: Readonly<Record<string, unknown>> | null,
): readonly string[] => {
  if (!expected || !row) return expected || row ? ['id'] : [];
  return Object.keys(expected).filter((field) => !isDeepStrictEqual(expected[field], row[field]));
};
