import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Ended, Ready, Running } from './running.ts';

/** A worker that is restarted whenever it ends, until it receives a stop signal. */
export type Kept = {
  readonly name: string;
  /** Undefined while there is none. */
  readonly current: Running | undefined;
  /**
   * Starts it for the first time, and throws if it cannot start: another attempt would end in the same way.
   */
  start(): Promise<Ready>;
  /**
   * Starts another one, and stops the former once that is ready. False if it could not start: then the former
   * continues.
   */
  replace(): Promise<boolean>;
  stop(): Promise<void>;
};

type Options = {
  readonly name: string;
  readonly run: (isFirst: boolean) => Running;
  /** Called for every process that has ended. */
  readonly ended: (running: Running) => void;
  readonly log: Log;
  readonly clock: Clock;
};

const DELAY_MIN_MS = 100;
const DELAY_MAX_MS = 30_000;
const START_MAX_MS = 120_000;
/** A worker that ran for so long is healthy: its next failure counts as the first. */
const WELL_AFTER_MS = 60_000;

export const keepRunning = ({ name, run, ended, log, clock }: Options): Kept => {
  const stopping = new AbortController();
  let current: Running | undefined;
  let failures = 0;

  const launch = async (isFirst = false): Promise<{ running: Running; ready: Ready | undefined }> => {
    const running = run(isFirst);
    void running.ended.then(() => ended(running));
    // The first start may have tables to migrate; the person who started it decides how long to wait.
    const tooLong = isFirst ? undefined : clock.after(START_MAX_MS, running.kill);
    const stop = () => running.stop({ isReplaced: false });
    stopping.signal.addEventListener('abort', stop);
    const ready = await running.ready;
    tooLong?.[Symbol.dispose]();
    stopping.signal.removeEventListener('abort', stop);
    return { running, ready };
  };

  const watch = async (running: Running): Promise<void> => {
    current = running;
    const sinceMs = clock.elapsedMs();
    const { exitCode, signal } = await running.ended;
    if (current !== running) return;
    current = undefined;
    if (stopping.signal.aborted) return;
    if (clock.elapsedMs() - sinceMs > WELL_AFTER_MS) failures = 0;
    log.error({ worker: name, exitCode, signal }, 'A worker has ended and is restarted.');
    await startAgain();
  };

  const startAgain = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const delayMs = Math.min(DELAY_MIN_MS * 2 ** failures, DELAY_MAX_MS);
      failures += 1;
      await clock.sleep(delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      const { running, ready } = await launch();
      if (ready !== undefined) return void watch(running);
      if (!stopping.signal.aborted)
        log.error({ worker: name, ...(await running.ended) }, 'A worker could not start; it is retried.');
    }
  };

  return {
    name,
    get current() {
      return current;
    },
    async start() {
      const { running, ready } = await launch(true);
      if (ready === undefined) throw refusalOf(name, await running.ended);
      void watch(running);
      return ready;
    },
    async replace() {
      const former = current;
      // The worker is being restarted anyway.
      if (former === undefined || stopping.signal.aborted) return true;
      const { running, ready } = await launch();
      if (ready === undefined) return false;
      void watch(running);
      former.stop({ isReplaced: true });
      await former.ended;
      return true;
    },
    async stop() {
      const last = current;
      stopping.abort();
      last?.stop({ isReplaced: false });
      await last?.ended;
    },
  };
};

/** The worker has logged the reason itself. */
const refusalOf = (name: string, { exitCode, signal }: Ended): StartRefused =>
  new StartRefused(
    `The worker ${name} could not start${signal === null ? '' : `: it was ended by ${signal}`}.`,
    {
      exitCode: exitCode || 1,
    },
  );
