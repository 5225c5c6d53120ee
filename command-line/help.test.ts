import { expect, test } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';

const call = (...args: readonly string[]) => callAt({}, args);

test('lines are wrapped at the width of a terminal, and only there', async () => {
  const { output } = await callAt({ columns: 60 }, ['help', 'log']);
  expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
  expect(
    Math.max(
      ...(await call('help', 'log')).lines
        .join('\n')
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeGreaterThan(100);
});

test.each([
  [['users', 'list'], 'api listUsers'],
  [['users', 'find', 'ada', '--json'], 'api listUsers --q <text>'],
  [['webhooks', 'enable', '6001'], 'api enableWebhook <id>'],
  [['help', 'deliveries', 'list'], 'api searchDeliveries'],
])('%j says which operation it is now', async (args, now) => {
  const { exit, complaint } = await call(...args);
  expect(exit).toBe(64);
  expect(complaint).toContain(`is now npm run annals -- ${now}`);
});
