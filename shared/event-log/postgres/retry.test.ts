import { expect, test, vi } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { withRetries } from './retry.ts';

test('a clock that is set forward does not end the retry budget', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    let asked = 0;
    const answer = withRetries(async () => {
      asked += 1;
      vi.setSystemTime(Date.now() + 3_600_000);
      if (asked === 1) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      return 'answer';
    }, REAL_TIME);
    expect(await answer).toBe('answer');
  } finally {
    vi.useRealTimers();
  }
});
