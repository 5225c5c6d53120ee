import type { EventLog } from '#shared/event-log/event-log.ts';
import { requestOf } from './known-keys.ts';
import type { ImportLine } from './line.ts';
import { FaultOfLine } from './resolve-names.ts';

/** Lines that are decided at once: the log stores what they append in one transaction. */
const LINES_AT_ONCE = 64;

type Turn = {
  readonly line: ImportLine;
  /** Ends once every line before has handed its events to the log, or has none. */
  readonly before: Promise<void>;
  pass(): void;
  hasEvents: boolean;
};

type Work = {
  /** The aggregate that the line changes, and others that it names: it waits for earlier changes of them. */
  readonly subjects: readonly [target: string, ...named: readonly string[]];
  run(): Promise<void>;
  done(hasEvents: boolean): void;
};

/**
 * Decides several lines at once, and appends their events in the order of the lines. Once a line has failed,
 * no later one appends anything.
 */
export const createLineOrder = (log: EventLog, latestBefore: string) => {
  const turns = new Map<string, Turn>();
  const running = new Set<Promise<void>>();
  const lastOf = new Map<string, Promise<void>>();
  let latest = latestBefore;
  let last = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;

  const append: EventLog['append'] = async (stream, expected, events, options) => {
    const turn = turns.get(String(events[0]?.metadata.request));
    if (turn === undefined) return log.append(stream, expected, events, options);
    await turn.before;
    if (failure !== undefined) throw new Error('an earlier line has failed');
    const { at } = turn.line;
    if (at < latest)
      throw new FaultOfLine(
        `its time, ${at}, is before ${latest}, that of an event in the log: import before anything else happens, with the lines in the order of time`,
      );
    latest = at;
    turn.hasEvents = true;
    const appended = log.append(stream, expected, events, options);
    turn.pass();
    return appended;
  };

  const demandNoFailure = (): void => {
    if (failure !== undefined) throw failure.error;
  };

  return {
    log: { ...log, append } satisfies EventLog,
    /** Begins a line as soon as there is room; throws the failure of the first line that has failed. */
    async begin(line: ImportLine, { subjects, run, done }: Work): Promise<void> {
      while (running.size >= LINES_AT_ONCE) await Promise.race(running);
      demandNoFailure();
      const { promise, resolve } = Promise.withResolvers<void>();
      const turn: Turn = { line, before: last, pass: resolve, hasEvents: false };
      last = promise;
      turns.set(requestOf(line.key), turn);
      const earlier = subjects.flatMap((subject) => lastOf.get(subject) ?? []);
      const work = async () => {
        await Promise.all(earlier);
        if (failure === undefined) await run();
        done(turn.hasEvents);
      };
      const [target] = subjects;
      const ended = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          turns.delete(requestOf(line.key));
          running.delete(ended);
          if (lastOf.get(target) === ended) lastOf.delete(target);
          // After a failure, so that the next line sees it.
          void turn.before.then(turn.pass);
        });
      running.add(ended);
      lastOf.set(target, ended);
    },
    /** Waits for all lines so far. */
    async finish(): Promise<void> {
      await Promise.all(running);
      demandNoFailure();
    },
  };
};
