// Over 200 lines, because it is one log: how appends and deletions are decided, stored and shown to readers.
import { randomUUID } from 'node:crypto';
import { decideAppend } from './append-decision.ts';
import type { Journal, OpenedJournal } from './journal.ts';
import {
  blankEvent,
  type ExpectedRevision,
  jsonEventOf,
  type LogRecord,
  type NewEvent,
  REVISION_MAX,
  scavenged,
  sizeInLog,
  ticksNow,
} from './records.ts';
import {
  describedBy,
  isScavengeable,
  isSoftDeleted,
  lastRevision,
  metadataIn,
  metadataStreamOf,
  metadataTruncatedBefore,
  newStream,
  type Stream,
} from './stream.ts';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly revision: bigint; readonly position: number }
  | { readonly outcome: 'wrong-revision'; readonly current: bigint }
  | { readonly outcome: 'deleted' };

export type Log = {
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): AppendOutcome;
  /** Not recorded, because clients of today cannot do it: an old log may have such records. */
  appendInTransaction(stream: string, events: readonly NewEvent[]): void;
  remove(stream: string, expected: ExpectedRevision, how: 'delete' | 'tombstone'): AppendOutcome;
  /**
   * Removes what retention, truncation and deletion have made unreadable. A log that is opened again has it
   * back.
   */
  scavenge(): void;
  /** Resolves when all changes so far are durable and may be acknowledged. */
  settled(): Promise<void>;
  stream(name: string): Stream | undefined;
  /** Everything ever appended; only the records before `visibleCount` are durable and visible. */
  readonly records: readonly LogRecord[];
  visibleCount(): number;
  endPosition(): number;
  onVisible(listener: (records: readonly LogRecord[]) => void): () => void;
  close(): Promise<void>;
};

type State = {
  readonly journal: Journal | undefined;
  readonly streams: Map<string, Stream>;
  readonly records: LogRecord[];
  readonly listeners: Set<(records: readonly LogRecord[]) => void>;
  visibleCount: number;
  endPosition: number;
};

/** The position of a fresh server's first event in the recorded run, after the log's own epoch record. */
const FIRST_POSITION = 548;
const FIRST_EVENT_JSON = '{"$maxAge":2592000,"$acl":{"$r":"$ops","$w":[],"$d":[],"$mr":[],"$mw":[]}}';

export const openLog = (opened?: Partial<OpenedJournal>): Log => {
  const state: State = {
    journal: opened?.journal,
    streams: new Map(),
    records: [],
    listeners: new Set(),
    visibleCount: 0,
    endPosition: FIRST_POSITION,
  };
  for (const change of opened?.changes ?? []) for (const record of change) apply(state, record);
  show(state, state.records.length);
  if (state.records.length === 0)
    commit(
      state,
      recordsOf(FIRST_POSITION, '$$$scavenges', 0n, [
        jsonEventOf(randomUUID(), '$metadata', FIRST_EVENT_JSON),
      ]),
    );
  return {
    append: (stream, expected, events) => append(state, stream, expected, events),
    appendInTransaction: (stream, events) => appendInTransaction(state, stream, events),
    remove: (stream, expected, how) => remove(state, stream, expected, how),
    scavenge: () => scavenge(state),
    settled: async () => state.journal?.settled(),
    stream: (name) => state.streams.get(name),
    records: state.records,
    visibleCount: () => state.visibleCount,
    endPosition: () => state.endPosition,
    onVisible(listener) {
      state.listeners.add(listener);
      return () => state.listeners.delete(listener);
    },
    close: async () => state.journal?.close(),
  };
};

const append = (
  state: State,
  name: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): AppendOutcome => {
  const stream = streamNamed(state, name);
  const decided = decideAppend(
    stream,
    expected,
    events.map((event) => event.id),
  );
  switch (decided.decision) {
    case 'deleted':
      return { outcome: 'deleted' };
    case 'refuse':
      return { outcome: 'wrong-revision', current: decided.current };
    case 'repeat':
      return {
        outcome: 'appended',
        revision: decided.revision,
        position: stream.records[Number(decided.revision)]?.position ?? 0,
      };
    case 'append': {
      const next = lastRevision(stream) + 1n;
      const records = recordsOf(state.endPosition, name, next, events);
      commit(
        state,
        events.length > 0 && isSoftDeleted(stream)
          ? [...records, ...truncation(state, endOf(records), name, next)]
          : records,
      );
      return { outcome: 'appended', revision: lastRevision(stream), position: records.at(-1)?.position ?? 0 };
    }
  }
};

/** The events lie in the log before the record that commits all of them. */
const appendInTransaction = (state: State, name: string, events: readonly NewEvent[]): void => {
  const first = lastRevision(streamNamed(state, name)) + 1n;
  const records = recordsOf(state.endPosition, name, first, events);
  const end = endOf(records);
  commit(
    state,
    records.map((record) => ({ ...record, commit: end })),
  );
};

const remove = (
  state: State,
  name: string,
  expected: ExpectedRevision,
  how: 'delete' | 'tombstone',
): AppendOutcome => {
  const stream = streamNamed(state, name);
  if (stream.tombstone) return { outcome: 'deleted' };
  const current = lastRevision(stream);
  // Recorded: even a deletion that expects no stream is refused if there is none.
  const refused = how === 'delete' && current === -1n;
  if (refused || !holds(expected, current)) return { outcome: 'wrong-revision', current };
  const records =
    how === 'delete'
      ? truncation(state, state.endPosition, name, REVISION_MAX)
      : [tombstoneOf(name, state.endPosition)];
  commit(state, records);
  return { outcome: 'appended', revision: current, position: records[0]?.position ?? 0 };
};

const scavenge = ({ records, streams, visibleCount }: State): void => {
  for (const [index, record] of records.slice(0, visibleCount).entries()) {
    const stream = streams.get(record.stream);
    if (!stream || !isScavengeable(stream, record)) continue;
    const left = scavenged(record);
    records[index] = left;
    stream.records[Number(record.revision)] = left;
  }
};

const holds = (expected: ExpectedRevision, current: bigint): boolean => {
  if (expected === 'any') return true;
  if (expected === 'stream_exists') return current >= 0n;
  return current === (expected === 'no_stream' ? -1n : expected);
};

/**
 * Deletes or recreates a stream by a new version of its metadata with the revision before which it is
 * truncated.
 */
const truncation = (state: State, position: number, name: string, mark: bigint): LogRecord[] => {
  const described = metadataStreamOf(name);
  const metadata = jsonEventOf(
    randomUUID(),
    '$metadata',
    metadataTruncatedBefore(streamNamed(state, name).metadata, mark),
  );
  return recordsOf(position, described, lastRevision(streamNamed(state, described)) + 1n, [metadata]);
};

const recordsOf = (
  start: number,
  stream: string,
  firstRevision: bigint,
  events: readonly NewEvent[],
): LogRecord[] => {
  const created = `${ticksNow()}`;
  if (events.length === 0)
    return [
      {
        ...blankEvent(randomUUID(), ''),
        kind: 'empty',
        stream,
        created,
        position: start,
        revision: firstRevision,
        indexInAppend: 0,
      },
    ];
  let position = start;
  return events.map((event, index) => {
    const record: LogRecord = {
      ...event,
      kind: 'event',
      stream,
      created,
      position,
      revision: firstRevision + BigInt(index),
      indexInAppend: index,
    };
    position += sizeInLog(record);
    return record;
  });
};

const tombstoneOf = (stream: string, position: number): LogRecord => ({
  ...blankEvent(randomUUID(), '$streamDeleted'),
  kind: 'tombstone',
  stream,
  created: `${ticksNow()}`,
  position,
  revision: REVISION_MAX,
  indexInAppend: 0,
});

const endOf = (records: readonly LogRecord[]): number =>
  records.reduce((_, record) => record.position + sizeInLog(record), 0);

/** Decided at once and in order, but visible to readers only once durable. */
const commit = (state: State, records: readonly LogRecord[]): void => {
  for (const record of records) apply(state, record);
  const count = state.records.length;
  if (state.journal) state.journal.write(records, () => show(state, count));
  else show(state, count);
};

const COMMIT_BYTES = 60;

const apply = (state: State, record: LogRecord): void => {
  state.records.push(record);
  state.endPosition =
    record.commit === undefined ? record.position + sizeInLog(record) : record.commit + COMMIT_BYTES;
  if (record.kind === 'empty') return;
  const stream = streamNamed(state, record.stream);
  if (record.kind === 'tombstone') {
    stream.tombstone = record;
    return;
  }
  stream.records.push(record);
  if (!stream.revisionOfId.has(record.id)) stream.revisionOfId.set(record.id, record.revision);
  const described = describedBy(record);
  if (described !== undefined) streamNamed(state, described).metadata = metadataIn(record);
};

const streamNamed = (state: State, name: string): Stream => {
  const known = state.streams.get(name);
  if (known) return known;
  const stream = newStream();
  state.streams.set(name, stream);
  return stream;
};

const show = (state: State, count: number): void => {
  const shown = state.records.slice(state.visibleCount, count);
  state.visibleCount = count;
  for (const listener of state.listeners) listener(shown);
};
