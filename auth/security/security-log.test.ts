import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { recordAfterwards } from './security-log.ts';

const event = { type: 'account.second_factor_added', data: { userId: 7001 as UserId } } as const;
const context = { actor: 'user:7001', client: null, requestId: 'r-1' } as const;

test('an action stays done if the log cannot record it, and an error is logged', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  await recordAfterwards({ record: () => Promise.reject(new Error('not now')), log })(event, context);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      type: event.type,
      requestId: 'r-1',
      msg: 'A security event could not be recorded.',
    }),
  ]);
});
