import { expect } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';
import { registerUser } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/processes.ts';

const test = base
  .extend('restored', { scope: 'file' }, async ({ database }) => {
    await using side = await database.open();
    const restored = await registerUser(side);
    // As if the database were from before that.
    await side.erasures.note([{ userId: restored, at: '2026-01-02T03:04:05.678Z', event: null }]);
    return restored;
  })
  .extend('call', { scope: 'file' }, ({ database }) => (...args: readonly string[]) => {
    return callAt({ environment: database.settings }, ['erasure', ...args]);
  });

test('lists erased users', async ({ call, restored }) => {
  expect(await call('list')).toMatchObject({ exit: 0, output: `2026-01-02T03:04:05.678Z  user ${restored}` });
  expect(JSON.parse((await call('list', '--json')).output)).toEqual({
    userId: restored,
    at: '2026-01-02T03:04:05.678Z',
    event: null,
  });
});

test('reports residual personal data, and users without any', async ({ call, restored }) => {
  const left = await call('report', String(restored));
  expect(left).toMatchObject({
    exit: 1,
    complaint: 'The erasure is not complete yet: see what is left, and check again in a moment.',
  });
  expect(left.output).toContain('1 left  key');
  expect(await call('report', '77')).toMatchObject({
    exit: 1,
    complaint: 'There is no deleted user 77.',
  });
  expect((await call('report', 'Ada')).exit).toBe(64);
});

test('erases a restored user again, without a trace', async ({ call, restored }) => {
  expect((await call('apply')).output).toMatch(
    /^1 on the erasure list .+; 1 had come back, and were erased again/,
  );
  expect((await call('apply')).output).toContain('none of them had come back');
  const report = await call('report', String(restored));
  expect(report).toMatchObject({ exit: 0, output: expect.stringContaining('by system:erasure-list') });
});
