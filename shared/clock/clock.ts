/**
 * Time and its scheduler, given with the other dependencies: whatever waits, retries, polls or expires uses it,
 * so that tests move time instead of waiting for it.
 *
 * What another program measures stays real: sockets’ timeouts, `AbortSignal.timeout`, PostgreSQL’s own limits,
 * and the client, which runs in browsers.
 */
export type Clock = {
  /** The date and time, in milliseconds since 1970. */
  nowMs(): number;
  /**
   * The offset of `nowMs` from real time, for SQL that compares with the time of the server; 0 if this clock
   * is real.
   */
  aheadMs(): number;
  /** Never goes back: for durations, and for deadlines in this process. */
  elapsedMs(): number;
  /** Resolves after the time, or as soon as the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal, options?: Unheld): Promise<void>;
  /** Calls back once after the time, unless the timer is disposed. */
  after(ms: number, work: () => void): Timer;
  /** Calls back again and again, until the timer is disposed. */
  every(ms: number, work: () => void): Timer;
};

/**
 * The date that other programs know: PostgreSQL, the event log, and receivers of webhooks do not move with this
 * clock.
 */
export const dateElsewhereMs = (clock: Pick<Clock, 'nowMs' | 'aheadMs'>): number =>
  clock.nowMs() - clock.aheadMs();

/** With `ref: false`, it does not keep the process running. */
type Unheld = { readonly ref?: boolean };

export type Timer = Disposable & {
  /** The timer no longer keeps the process running. */
  unref(): Timer;
};
