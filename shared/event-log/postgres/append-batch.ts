import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { AuthenticLog } from '#shared/authentic-events/authentic-log.ts';
import type { CheckedEvent } from '../check-append.ts';
import { type Appended, NO_STREAM, type ReadAt, type RecordedEvent, type Seen } from '../event-log.ts';
import { contentOf } from '../foreign-record.ts';
import type { Outcomes, ProposedAppend } from './group-commit.ts';
import { type Reading, readVersions } from './read.ts';

const EXPECT_ANY = -1;
const SEPARATOR = '\u001e';

const APPEND = {
  name: 'event-log-append',
  text: 'select id, version, position, recorded_at as "recordedAt", before_id as "beforeId" from event_log.append_from_first($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
};

type Part = Pick<ProposedAppend, 'stream' | 'expected' | 'events'>;
type Stored = Pick<RecordedEvent, 'id' | 'version' | 'position' | 'recordedAt'>;

/** The events of a batch as followers read them, at the end of the log. */
type StoredBatch = {
  /** The newest event of the log until then. */
  readonly before: Seen | undefined;
  readonly last: Position;
  events(): readonly { readonly event: RecordedEvent; readonly bytes: number }[];
};

type Appending = { readonly outcomes: Outcomes; readonly stored: StoredBatch | undefined };

/**
 * Stores a batch of appends with one statement, which is one transaction, unless the log has lost the seen
 * event. The outcome is undefined for an append whose expectation was wrong.
 */
export const appendBatch = async (
  { pool, authentic }: Reading,
  batch: readonly ProposedAppend[],
): Promise<Appending> => {
  if (authentic === undefined || batch.every(({ expected }) => expected !== 'any'))
    return appendExact({ pool, authentic }, batch);
  return appendAny({ pool, authentic }, batch);
};

/** A MAC covers the version, so appends that expect any version expect the present one. */
const appendAny = async (reading: Reading, batch: readonly ProposedAppend[]): Promise<Appending> => {
  const streams = new Set(batch.flatMap(({ expected, stream }) => (expected === 'any' ? [stream] : [])));
  const versions = await readVersions(reading.pool, streams);
  return appendExact(
    reading,
    batch.map((each) =>
      each.expected === 'any' ? { ...each, expected: versions.get(each.stream) ?? NO_STREAM } : each,
    ),
  );
};

const appendExact = async (
  { pool, authentic }: Reading,
  batch: readonly ProposedAppend[],
): Promise<Appending> => {
  const seen = newestSeen(batch);
  const parts = batch.flatMap((each) => [...(each.also ?? []), each]);
  // An append with reads, or to several streams, is alone in its batch. Each of its streams is checked before
  // any is written, because the insert leaves out those that have moved.
  const reads = batch.flatMap((each) => [...(each.reads ?? []), ...expectedOf(each)]);
  const read = [reads.map(({ stream }) => stream), reads.map(({ version }) => version)].map((each) =>
    reads.length === 0 ? null : each.join(SEPARATOR),
  );
  const values = [...read, seen?.position ?? null, seen?.id ?? null, ...columnsOf(parts, authentic)];
  const { rows } = await pool.query<Row>({ ...APPEND, values });
  const stored = new Map(rows.map((row) => [row.id, row]));
  const lastOf = ({ events }: Pick<ProposedAppend, 'events'>): Appended | undefined => {
    const last = stored.get(events.at(-1)?.id as EventId);
    return last && { version: last.version, position: last.position };
  };
  const outcomes = batch.map((each) => {
    const own = lastOf(each);
    return (
      own && { ...own, ...(each.also?.length && { also: each.also.flatMap((part) => lastOf(part) ?? []) }) }
    );
  });
  return { outcomes, stored: rows.length === 0 ? undefined : storedBatch(rows, parts) };
};

type Row = Stored & { readonly beforeId: EventId | null };

const storedBatch = (rows: readonly Row[], parts: readonly Part[]): StoredBatch => {
  const positions = rows.map(({ position }) => position);
  const [before, last] = [Math.min(...positions) - 1, Math.max(...positions)] as [Position, Position];
  const beforeId = rows[0]?.beforeId;
  return {
    before: beforeId ? { position: before, id: beforeId } : undefined,
    last,
    events() {
      const proposed = new Map(
        parts.flatMap(({ stream, events }) => events.map((event) => [event.id, { stream, event }] as const)),
      );
      return rows
        .toSorted((one, other) => one.position - other.position)
        .flatMap(({ beforeId: _, ...stored }) => {
          const found = proposed.get(stored.id);
          return found
            ? [{ event: recordedOf(found.stream, found.event, stored), bytes: found.event.bytes }]
            : [];
        });
    },
  };
};

/** The event as a follower reads it. */
const recordedOf = (
  stream: StreamName,
  { type, data, metadata }: CheckedEvent,
  stored: Stored,
): RecordedEvent => ({
  ...{ ...stored, stream, type },
  ...contentOf({ data: JSON.parse(data), metadata: JSON.parse(metadata) }),
});

/** The versions that an append to several streams expects. */
const expectedOf = ({ also = [], ...own }: ProposedAppend): readonly ReadAt[] =>
  also.length === 0
    ? []
    : [own, ...also].flatMap(({ stream, expected }) =>
        expected === 'any' ? [] : [{ stream, version: expected }],
      );

/** A log that has lost an earlier event has lost the newest as well. */
const newestSeen = (batch: readonly Pick<ProposedAppend, 'seen'>[]): Seen | undefined =>
  batch.reduce<Seen | undefined>(
    (newest, { seen }) => (seen && seen.position > (newest?.position ?? 0) ? seen : newest),
    undefined,
  );

const columnsOf = (
  batch: readonly Part[],
  authentic: AuthenticLog | undefined,
): readonly (string | null)[] => {
  const columns: string[][] = Array.from({ length: 8 }, () => []);
  const ahead = new Map<StreamName, number>();
  const macs: string[] = [];
  for (const { stream, expected, events } of batch) {
    for (const event of events) {
      const offset = (ahead.get(stream) ?? 0) + 1;
      ahead.set(stream, offset);
      const version = expected === 'any' ? EXPECT_ANY : expected;
      const row = [
        stream,
        String(version),
        String(offset),
        event.id,
        event.type,
        event.data,
        event.metadata,
        String(event.bytes),
      ];
      for (const [index, value] of row.entries()) columns[index]?.push(value);
      if (authentic === undefined) continue;
      const { id, type, metadata, data } = event;
      const mac = authentic.macOf({
        stream,
        version: (version + offset) as Version,
        id,
        type,
        metadata,
        data,
      });
      if (mac !== undefined) macs.push(mac);
    }
  }
  const joined = columns.map((column) => column.join(SEPARATOR));
  return [...joined, macs.length === 0 ? null : macs.join(SEPARATOR)];
};
