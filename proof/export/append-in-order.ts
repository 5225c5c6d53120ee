import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import {
  APPEND_BYTES_MAX,
  APPEND_EVENTS_MAX,
  type EventLog,
  type NewEvent,
} from '#shared/event-log/event-log.ts';
import type { Canonical } from '../stored/canonical.ts';
import { demandOneForm } from './one-form.ts';

/** Consecutive events of one stream. */
type Run = {
  readonly stream: StreamName;
  readonly events: NewEvent[];
  readonly before: Version;
  bytes: number;
};

/** The way in which a log keeps concurrent appends in order. */
export type Order = 'batches' | 'one by one';

/** The limits of a batch of the log in PostgreSQL; several batches could overtake each other. */
const BATCH_EVENTS_MAX = 1_000;
const BATCH_BYTES_MAX = 4 * 1_048_576;

/**
 * Appends events as they were elsewhere, with their ids, at their versions, in their order. Returns the
 * position of the last. The log in PostgreSQL appends concurrent requests in one transaction and in order, if
 * all of them expect any version. EventStoreDB guarantees no order of concurrent appends, least of all after
 * retries.
 */
export const appendInOrder = async (
  eventLog: Pick<EventLog, 'append'>,
  order: Order,
  events: readonly Canonical[],
  after: Position,
): Promise<Position> => {
  let last = after;
  for (const batch of order === 'batches' ? batchesOf(runsOf(events)) : runsOf(events).map((run) => [run])) {
    const appended = await Promise.all(
      batch.map((run) => eventLog.append(run.stream, order === 'batches' ? 'any' : run.before, run.events)),
    );
    for (const [index, { version, position }] of appended.entries()) {
      const run = batch[index];
      if (!run || version !== run.before + run.events.length || position <= last)
        throw new StartRefused(
          `Another process writes to the target log: ${run?.stream} is at version ${version}. Start again with an empty log.`,
        );
      last = position;
    }
  }
  return last;
};

/**
 * Appends events, with their ids, versions and order, to a log that others write to as well. Each append
 * expects the version before it, so that no event is stored twice or after an unexpected one.
 */
export const appendExpecting = async (
  eventLog: Pick<EventLog, 'append'>,
  order: Order,
  events: readonly Canonical[],
): Promise<void> => {
  const runs = runsOf(events);
  for (const batch of order === 'batches' ? batchesOf(runs, 'each stream once') : runs.map((run) => [run]))
    await Promise.all(batch.map((run) => eventLog.append(run.stream, run.before, run.events)));
};

const runsOf = (events: readonly Canonical[]): readonly Run[] => {
  const runs: Run[] = [];
  for (const event of events) {
    demandOneForm(event);
    const { id, type, data, metadata, stream, version } = event;
    const bytes = Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
    const run = runs.at(-1);
    const fits =
      run?.stream === stream &&
      run.events.length < APPEND_EVENTS_MAX &&
      run.bytes + bytes <= APPEND_BYTES_MAX;
    if (fits) {
      run.events.push({ id, type, data, metadata });
      run.bytes += bytes;
    } else
      runs.push({ stream, events: [{ id, type, data, metadata }], before: (version - 1) as Version, bytes });
  }
  return runs;
};

/**
 * The log in PostgreSQL takes several appends to one stream in one transaction only if they expect any
 * version; otherwise the second one waits, and what was sent after it would overtake it.
 */
function* batchesOf(
  runs: readonly Run[],
  what: 'any' | 'each stream once' = 'any',
): Generator<readonly Run[]> {
  let batch: Run[] = [];
  let [events, bytes] = [0, 0];
  const streams = new Set<StreamName>();
  for (const run of runs) {
    const isFull = events + run.events.length > BATCH_EVENTS_MAX || bytes + run.bytes > BATCH_BYTES_MAX;
    if (batch.length > 0 && (isFull || (what === 'each stream once' && streams.has(run.stream)))) {
      yield batch;
      [batch, events, bytes] = [[], 0, 0];
      streams.clear();
    }
    batch.push(run);
    streams.add(run.stream);
    events += run.events.length;
    bytes += run.bytes;
  }
  if (batch.length > 0) yield batch;
}
