import { setImmediate as nextTurn } from 'node:timers/promises';

/** After this number, the loop yields. */
const STREAMS_PER_TURN = 256;

/**
 * One timer for all streams, while there are any, so that an idle process sleeps; a round is skipped while the
 * previous one runs.
 */
export const every = (intervalMs: number, streams: ReadonlySet<unknown>, round: () => Promise<void>) => {
  let isUnderWay = false;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const run = async () => {
    if (streams.size === 0) return end();
    if (isUnderWay) return;
    isUnderWay = true;
    await round().finally(() => {
      isUnderWay = false;
    });
  };
  return {
    begin() {
      timer ??= setInterval(() => void run(), intervalMs).unref();
    },
    end,
  };
};

/** Skips streams that are removed meanwhile. */
export const forEach = async <Stream>(
  streams: ReadonlySet<Stream>,
  visit: (stream: Stream) => void,
): Promise<void> => {
  let visited = 0;
  for (const stream of streams) {
    visit(stream);
    visited += 1;
    if (visited % STREAMS_PER_TURN === 0) await nextTurn();
  }
};
