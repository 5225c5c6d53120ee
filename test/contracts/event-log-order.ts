import { expect, test } from 'vitest';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { LogUnavailable, StaleVersion } from '#shared/event-log/errors.ts';
import { type Appended, type EventLog, NO_STREAM, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { scaled } from '../../testing/load.ts';
import {
  anEvent,
  aStream,
  type Disturbance,
  type LogEngine,
  startFollowing,
  version,
} from './event-log-engine.ts';

/** Nothing is skipped, reordered or repeated, whatever happens around the log. */
export const describeOrder = (engine: () => LogEngine): void => {
  test('gives each of 32 writers of one stream a version of its own', async () => {
    await using log = await engine().open();
    const stream = aStream();
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => log.append(stream, 'any', [anEvent()])),
    );
    expect(answers.map((answer) => answer.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 32 }, (_, n) => n + 1),
    );
    const byVersion = answers.toSorted((a, b) => a.version - b.version).map(({ position }) => position);
    expect(byVersion).toEqual(byVersion.toSorted((a, b) => a - b));
  });

  test('lets one of 32 writers with the same expected version win, also from two processes', async () => {
    await using one = await engine().open();
    await using two = await engine().open();
    const stream = aStream();
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 32 }, (_, n) => (n % 2 ? one : two).append(stream, version(round), [anEvent()])),
      );
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
      expect(refused).toHaveLength(31);
      expect(refused.every((reason) => reason instanceof StaleVersion)).toBe(true);
    }
  });

  test('a follower skips and reorders nothing while two processes append and are refused', async () => {
    await followWhileWriting(engine());
  });

  test(
    'nor while the server restarts in the middle',
    async () => {
      await followWhileWriting(engine(), { inTheMiddle: () => engine().restart() });
    },
    scaled(120_000),
  );

  test(
    'nor with any other disturbance of this engine',
    async () => {
      expect(engine().disturbances.length).toBeGreaterThan(0);
      for (const { name, during } of engine().disturbances) {
        await followWhileWriting(engine(), { alongside: during }).catch((cause: unknown) => {
          throw new Error(`beside ${name}`, { cause });
        });
      }
    },
    scaled(120_000),
  );
};

const WRITERS = 16;
const APPENDS_EACH = 40;

type Acknowledged = Appended & { readonly stream: StreamName; readonly ids: readonly string[] };

type Around = {
  /** Runs once half of the appends are acknowledged. */
  readonly inTheMiddle?: () => Promise<void>;
  /** Runs while anything is appended. */
  readonly alongside?: Disturbance['during'];
};

/**
 * Writers of two processes append, one time in five with a wrong expectation, while followers of both follow.
 */
const followWhileWriting = async (
  engine: LogEngine,
  { inTheMiddle = async () => {}, alongside = async () => [] }: Around = {},
): Promise<void> => {
  await using one = await engine.open();
  await using two = await engine.open();
  const before = await one.head();
  await using ahead = startFollowing(one, before);
  await using elsewhere = startFollowing(two, before);
  const over = new AbortController();
  const beside = alongside(over.signal);
  const half = Promise.withResolvers<void>();
  let done = 0;
  const onAppended = () => {
    done += 1;
    if (done === (WRITERS * APPENDS_EACH) / 2) half.resolve();
  };
  const writing = Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => write(writer % 2 ? one : two, onAppended)),
  );
  const [acknowledged, besideIds] = await Promise.all([
    writing.finally(() => over.abort()),
    beside,
    half.promise.then(inTheMiddle),
  ]);
  const ids = [...acknowledged.flat().flatMap((append) => append.ids), ...besideIds];
  await ahead.until((seen) => seen.length >= ids.length, 60_000);
  await elsewhere.until((seen) => seen.length >= ids.length, 60_000);
  await using late = startFollowing(one, before);
  await late.until((seen) => seen.length >= ids.length);
  expect(late.seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expectOrder(late.seen, acknowledged.flat());
  expect(ahead.seen).toEqual(late.seen);
  expect(elsewhere.seen).toEqual(late.seen);
};

/**
 * Appends to a stream of its own and returns the acknowledged appends; refused ones must not be found later.
 */
const write = async (log: EventLog, onAppended: () => void): Promise<readonly Acknowledged[]> => {
  const stream = aStream();
  const acknowledged: Acknowledged[] = [];
  let at = NO_STREAM;
  for (let n = 0; n < APPENDS_EACH; n += 1) {
    if (n % 5 === 4) await expectStale(log, stream, version(at + 3));
    const events = Array.from({ length: 1 + (n % 3) }, () => anEvent({ n }));
    const appended = await untilAnswered(() => log.append(stream, at, events));
    acknowledged.push({ ...appended, stream, ids: events.map(({ id }) => id) });
    at = appended.version;
    onAppended();
  }
  return acknowledged;
};

/** A disturbance may last longer than the retry budget; the refusal then comes with a later attempt. */
const expectStale = async (log: EventLog, stream: StreamName, wrong: Version): Promise<void> => {
  const refused = [anEvent({ refused: true })];
  await expect(untilAnswered(() => log.append(stream, wrong, refused))).rejects.toThrow(StaleVersion);
};

/** Resolves an unknown outcome like a command handler: by a retry with the same ids. */
const untilAnswered = async (append: () => Promise<Appended>): Promise<Appended> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await append();
    } catch (error) {
      if (!(error instanceof LogUnavailable) || attempt === 5) throw error;
    }
  }
};

const expectOrder = (seen: readonly RecordedEvent[], acknowledged: readonly Acknowledged[]): void => {
  const versions = new Map<string, number>();
  for (const [index, event] of seen.entries()) {
    const previous = seen[index - 1];
    if (previous && previous.position >= event.position)
      throw new Error(`position ${event.position} follows ${previous.position}`);
    expect(event.version, `the order within ${event.stream}`).toBe((versions.get(event.stream) ?? 0) + 1);
    versions.set(event.stream, event.version);
  }
  const positions = new Map(seen.map((event) => [event.id as string, event.position]));
  for (const { ids, position } of acknowledged) expect(positions.get(ids.at(-1) ?? '')).toBe(position);
};
