import type { Clock, Timer } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';

export type Troubles = Disposable & { report(err: Error): void; isLasting(): boolean };

type Options = {
  readonly engine: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Throws if the engine does not answer. */
  check(): Promise<unknown>;
};

/**
 * The time without errors after which the trouble counts as over: longer than a worker waits for a job and
 * pauses after a failure.
 */
export const QUIET_MS = 8_000;
/** A single error, such as a lock that a busy process renewed too late, does not affect readiness. */
export const LASTING_MS = 10_000;

/** Logs the first of many errors, and their end: with a broken engine, BullMQ emits thousands per second. */
export const reportTroubles = ({ engine, log, clock, check }: Options): Troubles => {
  let isInTrouble = false;
  let begunAtMs = 0;
  let timer: Timer | undefined;
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
    timer?.[Symbol.dispose]();
    timer = clock.after(QUIET_MS, () => void look()).unref();
  };
  return {
    report(err) {
      if (!isInTrouble) log.warn({ err, engine }, 'The webhook queue fails; lost jobs are enqueued again.');
      if (!isInTrouble) begunAtMs = clock.elapsedMs();
      isInTrouble = true;
      wait();
    },
    isLasting: () => isInTrouble && clock.elapsedMs() - begunAtMs > LASTING_MS,
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      timer = undefined;
    },
  };
};
