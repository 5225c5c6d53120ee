import { setTimeout as delay } from 'node:timers/promises';

/** KafkaJS may wait for ever: this ends the wait after the time, or once aborted. */
export const within = async <Result>(
  work: Promise<Result>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Result> => {
  const done = new AbortController();
  const waiting = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  const late = delay(timeoutMs, undefined, { signal: waiting }).then(() => {
    throw new Error(`Kafka has not answered within ${timeoutMs} ms`);
  });
  late.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
};
