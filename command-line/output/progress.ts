import type { Progress } from '#shared/projection/catch-up.ts';
import type { Terminal } from '../terminal.ts';

/** Update intervals: on a terminal one line is rewritten; elsewhere each update is a line. */
const REWRITE_EVERY_MS = 200;
const COMPLAIN_EVERY_MS = 5_000;

/** One of several checks, each of which may take long. */
type Check = { readonly step: 'check'; readonly what: string };

type Shown = { onProgress(progress: Progress | Check): void } & Disposable;

/** Shows the progress, the rate, and the time left; and that it is stopping. */
export const showProgress = (
  { rewrite, complain, signal }: Pick<Terminal, 'rewrite' | 'complain' | 'signal'>,
  title: string,
  isDense: boolean,
): Shown => {
  const everyMs = rewrite ? REWRITE_EVERY_MS : COMPLAIN_EVERY_MS;
  const startedAtMs = performance.now();
  let printedAtMs = rewrite ? Number.NEGATIVE_INFINITY : startedAtMs;
  let isOver = false;
  /**
   * An index may take long: a terminal shows each; elsewhere one line announces them, unless everything is
   * quick.
   */
  const isLong = (progress: Progress | Check, elapsedMs: number) =>
    progress.step !== 'events' &&
    (rewrite !== undefined || (progress.step === 'indexes' && progress.done === 0 && elapsedMs >= everyMs));
  const print = (what: string) => (rewrite ?? complain)(`${title}: ${what}`);
  const onStop = () => print('stopping; press Ctrl+C again to end it at once');
  signal.addEventListener('abort', onStop);
  return {
    onProgress(progress) {
      const nowMs = performance.now();
      if (signal.aborted || (nowMs - printedAtMs < everyMs && !isLong(progress, nowMs - startedAtMs))) return;
      printedAtMs = nowMs;
      print(progressText(progress, { elapsedMs: nowMs - startedAtMs, isDense }));
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onStop);
      if (!isOver) rewrite?.('');
      isOver = true;
    },
  };
};

type Course = {
  readonly elapsedMs: number;
  /** Whether positions count events; on EventStoreDB they count bytes, and only their share is shown. */
  readonly isDense: boolean;
};

export const progressText = (progress: Progress | Check, { elapsedMs, isDense }: Course): string => {
  if (progress.step === 'check') return progress.what;
  if (progress.step === 'indexes') return `index ${progress.done + 1} of ${progress.of}`;
  const { events, position, from, upTo } = progress;
  const share = upTo > from ? (position - from) / (upTo - from) : 1;
  const leftS = share > 0 ? Math.ceil((elapsedMs / 1_000) * (1 / share - 1)) : undefined;
  return [
    isDense
      ? `${number(events)} of ${number(upTo - from)} events`
      : `${number(events)} events, ${Math.floor(share * 100)} % of the log`,
    `${number(Math.round(events / Math.max(elapsedMs / 1_000, 0.001)))} a second`,
    ...(leftS === undefined ? [] : [`${duration(leftS)} left`]),
  ].join(', ');
};

const MEGABYTE = 1_000_000;

export const megabytes = (bytes: number): string =>
  `${(bytes / MEGABYTE).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;

export const number = (value: number): string => value.toLocaleString('en');

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

export const duration = (seconds: number): string => {
  if (seconds < MINUTE_S) return `${seconds} s`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ${seconds % MINUTE_S} s`;
  return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`;
};
