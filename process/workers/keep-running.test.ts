import { afterEach, expect, test, vi } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { createLog } from '../observability/log.ts';
import { keepRunning } from './keep-running.ts';
import type { Running } from './running.ts';

const TEN_MINUTES_MS = 600_000;

afterEach(() => void vi.useRealTimers());

test('a first start may take as long as its migrations do', async () => {
  vi.useFakeTimers();
  const kill = vi.fn();
  const { promise: ready, resolve: isReady } = Promise.withResolvers<{ url: undefined }>();
  const ended = Promise.withResolvers<never>().promise;
  const run = (): Running => ({ pid: 1, channel: { ask: () => ended }, ready, ended, stop() {}, kill });
  const kept = keepRunning({
    name: '1',
    run,
    ended() {},
    log: createLog({ level: 'silent' }),
    clock: REAL_TIME,
  });
  const starting = kept.start();
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
  expect(kill).not.toHaveBeenCalled();
  isReady({ url: undefined });
  expect(await starting).toEqual({ url: undefined });
});
