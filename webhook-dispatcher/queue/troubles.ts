import type { Log } from '#shared/process/log.ts';

export type Troubles = Disposable & { report(err: Error): void; isLasting(): boolean };

type Options = {
  readonly engine: string;
  readonly log: Log;
  /** Throws if the engine does not answer. */
  check(): Promise<unknown>;
};

/**
 * The time without errors after which the trouble counts as over: longer than a worker waits for a job and
 * pauses after a failure.
 */
const QUIET_MS = 8_000;
/** A single error, such as a lock that a busy process renewed too late, does not affect readiness. */
const LASTING_MS = 10_000;

/** Logs the first of many errors, and their end: with a broken engine, BullMQ emits thousands per second. */
export const reportTroubles = ({ engine, log, check }: Options): Troubles => {
  let isInTrouble = false;
  let begunAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const mine = timer;
    const isOver = await check().then(
      () => true,
      () => false,
    );
    // Another error occurred meanwhile.
    if (mine !== timer) return;
    if (!isOver) return wait();
    isInTrouble = false;
    log.info({ engine }, 'The webhook queue works again.');
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(look, QUIET_MS).unref();
  };
  return {
    report(err) {
      if (!isInTrouble) log.warn({ err, engine }, 'The webhook queue fails; lost jobs are enqueued again.');
      if (!isInTrouble) begunAtMs = performance.now();
      isInTrouble = true;
      wait();
    },
    isLasting: () => isInTrouble && performance.now() - begunAtMs > LASTING_MS,
    [Symbol.dispose]() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
};
