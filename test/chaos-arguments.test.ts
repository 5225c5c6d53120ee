import { expect, test } from 'vitest';
import { runAnnals } from './annals-process.ts';

const chaos = (args: readonly string[], environment = {}) =>
  runAnnals(['test/chaos/mixed/main.ts', ...args], environment);

test('the chaos run explains itself, and refuses unknown arguments', async () => {
  expect(await chaos(['--help'])).toEqual({
    exit: 0,
    output: expect.stringContaining('Usage: npm run chaos -- [options]\n'),
  });
  expect(await chaos(['--fault', '3'])).toEqual({
    exit: 64,
    output: 'chaos: there is no option --fault; did you mean --faults? (more: npm run chaos -- --help).\n',
  });
  expect(await chaos(['--log', 'paper'])).toMatchObject({
    exit: 64,
    output: expect.stringMatching(/^chaos: --log must be postgres or/),
  });
});

test('a missing program is reported in one sentence', async () => {
  const { exit, output } = await chaos([], { NGINX: '/nowhere/nginx' });
  expect(exit).toBe(1);
  expect(output).toMatch(/^chaos: there is no \/nowhere\/nginx here \(.*\)\.\n/);
});
