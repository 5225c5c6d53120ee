import { isDeepStrictEqual } from 'node:util';
import type { History, LogEntry, Write } from '../history.ts';
import type { Violation } from './violation.ts';

type Appends = Pick<History, 'writes' | 'log'>;

const violation = (kind: Violation['kind'], what: string): Violation => ({ invariant: 'I1', kind, what });

/**
 * I1: every acknowledged command is in the log exactly once and with its contents, every other at most once,
 * and there are no other events.
 */
export const appendViolations = ({ writes, log }: Appends): readonly Violation[] => {
  const byRequest = Map.groupBy(
    log.filter(({ isConsequence }) => !isConsequence),
    ({ request }) => request,
  );
  const asked = new Set(writes.map(({ request }) => request));
  return [
    ...writes.flatMap((write) => writeViolations(write, byRequest.get(write.request) ?? [])),
    ...[...byRequest.keys()]
      .filter((request) => !asked.has(request))
      .map((request) => violation('other', `nobody asked for ${request}`)),
    ...orderViolations(writes),
    ...logViolations(log),
  ];
};

const writeViolations = (write: Write, entries: readonly LogEntry[]): readonly Violation[] => {
  const { what, request, outcome, leaves, why, position, state } = write;
  const name = `${what} (${request}, ${outcome})`;
  const found: Violation[] = [];
  const types = Object.keys(leaves);
  const known = entries.filter(({ type }) => types.includes(type));
  for (const { type, data } of known)
    for (const [field, value] of Object.entries(leaves[type] ?? {}))
      if (!isDeepStrictEqual(data[field], value))
        found.push(violation('other', `${name}: ${type} has another ${field}`));
  for (const type of types) {
    const times = known.filter((entry) => entry.type === type).length;
    if (times === 0 && outcome === 'acknowledged')
      found.push(violation('lost', `${name}: no ${type} in the log`));
    if (times > 1) found.push(violation('duplicated', `${name}: ${times} × ${type} in the log`));
  }
  const last = known.at(-1);
  const isWhole = known.length === 0 || known.length === types.length;
  if (!isWhole && outcome !== 'acknowledged')
    found.push(violation('other', `${name}: half of it is in the log`));
  if (outcome === 'refused') found.push(violation('other', `${name}: ${why}`));
  if (outcome !== 'acknowledged' || last === undefined) return found;
  if (position !== undefined && position !== last.position)
    found.push(violation('other', `${name}: said to be at ${position}, is at ${last.position}`));
  if (typeof state === 'number' && state > 0 && state !== last.version) {
    found.push(violation('other', `${name}: said to be version ${state}, is ${last.version}`));
  }
  return found;
};

/** A command that began after another was acknowledged comes after it in the log. */
const orderViolations = (writes: readonly Write[]): readonly Violation[] => {
  const done = writes.filter(({ outcome, position }) => outcome === 'acknowledged' && position !== undefined);
  const byEnd = done.toSorted((one, other) => one.endMs - other.endMs);
  const found: Violation[] = [];
  let [place, furthest]: [number, Write | undefined] = [0, undefined];
  for (const write of done.toSorted((one, other) => one.startMs - other.startMs)) {
    for (let ended = byEnd[place]; ended !== undefined && ended.endMs < write.startMs; ended = byEnd[place]) {
      if ((ended.position ?? 0) > (furthest?.position ?? 0)) furthest = ended;
      place += 1;
    }
    if (furthest !== undefined && (write.position ?? 0) < (furthest.position ?? 0)) {
      found.push(
        violation(
          'reordered',
          `${write.what} (${write.request}) is before ${furthest.request}, which was done when it began`,
        ),
      );
    }
  }
  return found;
};

/**
 * Checks the log itself: positions increase, ids are unique, and the versions of a stream are consecutive.
 */
const logViolations = (log: readonly LogEntry[]): readonly Violation[] => {
  const found: Violation[] = [];
  const ids = new Set<string>();
  const versions = new Map<string, number>();
  let position = -1;
  for (const entry of log) {
    if (entry.position <= position)
      found.push(violation('reordered', `position ${entry.position} comes after ${position}`));
    if (ids.has(entry.id)) found.push(violation('duplicated', `event ${entry.id} is in the log twice`));
    const before = versions.get(entry.stream);
    if (before !== undefined && entry.version !== before + 1) {
      found.push(
        violation(
          entry.version > before ? 'lost' : 'duplicated',
          `${entry.stream} goes from version ${before} to ${entry.version}`,
        ),
      );
    }
    ids.add(entry.id);
    versions.set(entry.stream, entry.version);
    position = entry.position;
  }
  return found;
};
