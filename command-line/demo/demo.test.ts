import { expect, test } from 'vitest';
import { writeFirstMinute } from '#shared/process/first-minute-file.ts';
import { callLine } from '../../test/engines/call-line.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import { runCommandLine } from '../program.ts';

const NOBODY = 'http://127.0.0.1:1';

test('where nothing was ever started, it says what to do', async () => {
  await using folder = await temporaryDataDir();
  expect(await callLine({ DATA_DIR: folder.path }, ['demo'])).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('run npm start first'),
  });
});

test('where nothing runs, it says what to do', async () => {
  await using folder = await temporaryDataDir();
  await writeFirstMinute(folder.path, {
    url: NOBODY,
    client: { clientId: 'development-admin', secret: 's' },
    author: { email: 'demo@example.com', password: 'p' },
  });
  expect(await callLine({ DATA_DIR: folder.path }, ['demo'])).toEqual({
    exit: 1,
    lines: [],
    complaint: `Annals does not answer at ${NOBODY}: start it with npm start, or say where it is with --url.`,
  });
});

const ACCESS = ['--client', 'a', '--secret', 's', '--url'];

test.each<[string, Record<string, string>, readonly string[], string]>([
  [
    'a production',
    { NODE_ENV: 'production', MASTER_KEY: Buffer.alloc(32, 7).toString('base64'), PUBLIC_URL: 'https://a.example' },
    [NOBODY],
    'NODE_ENV is production',
  ],
  ['another machine', {}, ['https://a.example'], 'https://a.example is not on this machine'],
])('%s is refused unless it is meant', async (_, environment, url, complaint) => {
  await using folder = await temporaryDataDir();
  const settings = { DATA_DIR: folder.path, ...environment };
  expect(await callLine(settings, ['demo', ...ACCESS, ...url])).toMatchObject({ exit: 1, complaint: expect.stringContaining(complaint) });
  expect(await callLine(settings, ['demo', '--yes', ...ACCESS, NOBODY])).toMatchObject({
    complaint: expect.stringContaining('Annals does not answer'),
  });
});

test.each([
  ['--traffic', 'soon', '--traffic must be a duration'],
  ['--articles', '0', '--articles must be a whole number from 1'],
  ['--seed', 'x', '--seed must be a whole number from 1'],
])('%s %s is refused', async (option, value, complaint) => {
  expect(await callLine({}, ['demo', option, value])).toMatchObject({ exit: 64, complaint: expect.stringContaining(complaint) });
});

test('a domain without a demo says so, and names what there is of it', async () => {
  const said: string[] = [];
  const terminal = {
    domain: helpdesk,
    environment: {},
    signal: new AbortController().signal,
    write: async (line: string) => void said.push(line),
    complain: (line: string) => void said.push(line),
  };
  expect(await runCommandLine(['demo', '--tickets', '3'], terminal)).toBe(1);
  expect(said.splice(0)).toEqual([expect.stringMatching(/^helpdesk has no demo: write one .* and give it to start\(\) in main\.ts/)]);
  expect(await runCommandLine(['help', 'demo'], terminal)).toBe(0);
  expect(said.join('\n')).toContain('How many tickets (40).');
});
