import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { callLine } from '../../test/engines/call-line.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import { runCommandLine } from '../program.ts';

test('traffic needs a running installation', async () => {
  await using folder = await temporaryDataDir();
  expect(await callLine({ DATA_DIR: folder.path }, ['demo', '--traffic', '1s'])).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('run npm start first'),
  });
});

test('production is refused without an explicit option', async () => {
  await using folder = await temporaryDataDir();
  const production = {
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PUBLIC_URL: 'https://a.example',
  };
  expect(await callLine({ DATA_DIR: folder.path, ...production }, ['demo'])).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('NODE_ENV is production'),
  });
});

test.each([
  ['--traffic', 'soon', '--traffic must be a duration'],
  ['--articles', '0', '--articles must be a whole number from 1'],
  ['--seed', 'x', '--seed must be a whole number from 1'],
])('%s %s is refused', async (option, value, complaint) => {
  expect(await callLine({}, ['demo', option, value])).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining(complaint),
  });
});

test('a domain without a demo says so, and lists the missing parts', async () => {
  const said: string[] = [];
  const terminal = {
    domain: helpdesk,
    parts: [],
    environment: {},
    clock: REAL_TIME,
    signal: new AbortController().signal,
    write: async (line: string) => void said.push(line),
    complain: (line: string) => void said.push(line),
  };
  expect(await runCommandLine(['demo', '--tickets', '3'], terminal)).toBe(1);
  expect(said.splice(0)).toEqual([
    expect.stringMatching(/^helpdesk has no demo: write one .* and pass it to start\(\) in main\.ts/),
  ]);
  expect(await runCommandLine(['help', 'demo'], terminal)).toBe(0);
  expect(said.join('\n')).toContain('How many tickets (40).');
});
