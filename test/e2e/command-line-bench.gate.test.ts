import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { sharedTerminalTest } from '../engines/terminal.ts';

/** An operator measures the capacity of an installation. */

type Report = {
  readonly steps: readonly {
    readonly connections: number;
    readonly requests: number;
    readonly failures: object;
    readonly byPart: object;
  }[];
  readonly advice: readonly string[];
  readonly subscribers: object;
};

const STEPS = ['--step', '1', '--for', '3', '--connections', '4'];
const test = sharedTerminalTest.extend(
  'measure',
  { scope: 'file' },
  ({ call }) =>
    (...args: readonly string[]) =>
      call('bench', ...STEPS, ...args),
);

test('nothing is sent without consent', async ({ measure, installation }) => {
  const { exit, complaint } = await measure();
  expect({ exit, complaint }).toEqual({
    exit: 1,
    complaint: `Load ${installation.url} with up to 4 connections for up to 3 s? Add --yes to confirm.`,
  });
});

test('without a mix it reads the lists of the domain, and writes nothing', async ({ measure }) => {
  const { exit, lines } = await measure('--yes');
  expect(exit).toBe(0);
  const text = lines.join('\n');
  expect(text).toMatch(/^Connections +Requests\/s +p50 ms +p95 ms +p99 ms +Failures\n +1 +\d/);
  expect(text).toMatch(/(?:Saturated|Most) at \d+ connections?: [\d.,]+\/s at a p99 of/);
  expect(text).toContain('Settings to change');
  expect(text).not.toContain('command ');
});

test('with a custom mix, all parts are sent and subscribers get events', async ({ ask, measure, people }) => {
  await using dataDir = await temporaryDataDir();
  const folder = dataDir.path;
  await writeFile(join(folder, 'query.graphql'), '{ posts(limit: 5) { title author { name } } }');
  await writeFile(
    join(folder, 'writes.jsonl'),
    '{"method":"POST","path":"/articles","body":{"title":"Bench {n}","body":"x","tags":[]}}\n',
  );
  const files = ['--graphql', join(folder, 'query.graphql'), '--commands', join(folder, 'writes.jsonl')];
  const { exit, lines } = await measure(
    '--yes',
    '--json',
    '--read',
    '/me',
    '--list',
    '/users?limit=5',
    ...files,
    '--weights',
    'read=1,list=1,graphql=1,command=1',
    '--subscribers',
    '2',
  );
  expect(exit).toBe(0);
  const report = JSON.parse(lines.join('')) as Report;
  expect(report.steps[0]?.connections).toBe(1);
  expect(report.steps.map(({ failures }) => failures)).toEqual(report.steps.map(() => ({})));
  const parts = new Set(report.steps.flatMap(({ byPart }) => Object.keys(byPart)));
  expect([...parts].toSorted()).toEqual(['command', 'graphql', 'list', 'read']);
  expect(report.subscribers).toMatchObject({ open: 2, refused: {} });
  const { token } = people.administrator;
  const { body } = await ask('GET', '/articles?limit=1&status=draft', { token });
  expect((body as { title: string }[])[0]?.title).toMatch(/^Bench \d+$/);
});

test.for<[readonly string[], string]>([
  [['--weights', 'reads=1'], '--weights must be like'],
  [['--read', 'articles'], '--read must be a path'],
  [['--step', '10'], '--step is 10 seconds, but --for is only 3'],
])('%j is refused before anything is sent', async ([args, complaint], { measure }) => {
  expect(await measure('--yes', ...args)).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining(complaint),
  });
});
