import { isDeepStrictEqual } from 'node:util';
import type { Content, History, LogEntry, Read } from '../history.ts';
import type { Violation } from './violation.ts';

/** The entries of the log by their cursors’ positions, and the items that were retracted, with their positions. */
type Recorded = {
  readonly at: ReadonlyMap<number, LogEntry>;
  readonly retracted: ReadonlyMap<string, number>;
};

export const recordedIn = (log: readonly LogEntry[]): Recorded => ({
  at: new Map(log.map((entry) => [entry.position, entry])),
  retracted: new Map(
    log.filter(({ type }) => RETRACTING.test(type)).map(({ stream, position }) => [stream, position]),
  ),
});

const RETRACTING = /^(?:article\.unpublished|article\.deleted|comment\.deleted)$/;

const positionOf = (cursor: string): number => Number.parseInt(cursor.split('-')[1] ?? '', 36);

/** Only readers of an item get more than its ids, and everybody may read these as long as they are public. */
const WHOLE = /^(?:article|comment)\./;

/** Compares what somebody was sent about an event with the event. */
export const contentFaults = (
  { at, retracted }: Recorded,
  { cursor, id, type, subject, time, data }: Content,
  isWhole: boolean,
): readonly string[] => {
  const entry = at.get(positionOf(cursor));
  // Other checks report a cursor that is in no log.
  if (entry === undefined) return [];
  const told = { id, type, stream: subject, at: time };
  const wrong = Object.entries(told)
    .filter(([name, value]) => value !== undefined && value !== entry[name as keyof typeof told])
    .map(
      ([name, value]) => `${cursor} has the ${name} ${value} instead of ${entry[name as keyof typeof told]}`,
    );
  if (data === undefined) return wrong;
  const others = Object.keys(data).filter((name) => !isDeepStrictEqual(data[name], entry.data[name]));
  const mayLack = [entry.stream, `article-${entry.data.articleId}`].some(
    (stream) => (retracted.get(stream) ?? -1) >= entry.position,
  );
  const missing =
    isWhole && WHOLE.test(entry.type) && !mayLack
      ? Object.keys(entry.data).filter((name) => entry.data[name] !== undefined && !(name in data))
      : [];
  return [
    ...wrong,
    ...others.map((name) => `${cursor} says another ${name}`),
    ...missing.map((name) => `${cursor} lacks ${name}`),
  ];
};

/** A read shows the fields that the events up to its version have set. */
export const readContentViolations = ({
  reads,
  log,
}: Pick<History, 'reads' | 'log'>): readonly Violation[] => {
  const streams = Map.groupBy(log, ({ stream }) => stream);
  return reads.flatMap((read) => {
    const entries = streams.get(streamOf(read)) ?? [];
    // An item from before the record.
    if (read.found === 'gone' || entries[0]?.version !== 1) return [];
    const state = Object.assign(
      {},
      ...entries.filter(({ version }) => version <= Number(read.found)).map(({ data }) => data),
    );
    return Object.entries(read.shows ?? {})
      .filter(([name, value]) => !isDeepStrictEqual(value, state[name]))
      .map(
        ([name]): Violation => ({
          ...{ invariant: 'contents', kind: 'other' },
          what: `${read.client} found another ${name} in ${read.target} at ${read.found}`,
        }),
      );
  });
};

/** `/articles/8001` and `/articles/8001/comments/9001`. */
const streamOf = ({ target }: Read): string => {
  const [id, kind = ''] = target.split('/').toReversed();
  return `${kind.replace(/s$/, '')}-${id}`;
};
