// Takes minutes, so it starts first.
import { expect, test, vi } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { ALL_PARTS } from '../parts.ts';
import { createDatabase } from '../test/engines/database.ts';
import { scaled } from '../testing/load.ts';
import { runCommandLine } from './program.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** An installation on a database of its own, and a way to call the command line on it. */
const open = async () => {
  const database = await createDatabase();
  const start = (args: readonly string[], environment: Record<string, string> = {}) => {
    const lines: string[] = [];
    const complaints: string[] = [];
    const ending = new AbortController();
    const exit = runCommandLine(args, {
      domain: publishing,
      parts: ALL_PARTS,
      environment: { DATABASE_URL: database.url, MASTER_KEY, ...environment },
      clock: REAL_TIME,
      signal: ending.signal,
      write: async (line) => void lines.push(line),
      complain: (line) => void complaints.push(line),
    });
    return { lines, complaints, exit, end: () => ending.abort() };
  };
  const call = async (...args: readonly string[]) => {
    const called = start(args);
    return { exit: await called.exit, lines: called.lines, complaint: called.complaints.join('\n') };
  };
  const publish = (id: number) =>
    call(
      'log',
      'append',
      `article-${id}`,
      'article.published',
      JSON.stringify({ articleId: id, authorId: 7 }),
    );
  return { start, call, publish, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
};

const USER = JSON.stringify({ userId: 7, name: 'Ada Lovelace', email: 'ada@example.org', role: 'author' });

test('an appended event is shown by its stream and by the tail', async () => {
  await using annals = await open();
  expect(await annals.publish(1)).toMatchObject({
    exit: 0,
    lines: ['article-1 is at version 1, the log at position 1.'],
  });
  const expected = expect.stringMatching(
    /^ +1 {2}\S+Z {2}article-1@1 {2}article\.published {2}\{"articleId":1,"authorId":7\}$/,
  );
  expect((await annals.call('log', 'show', 'article-1')).lines).toEqual([expected]);
  expect((await annals.call('log', 'tail')).lines).toEqual([expected]);
});

test('personal fields are neither stored nor shown in clear', async () => {
  await using annals = await open();
  expect(await annals.call('log', 'append', 'user-7', 'user.registered', USER)).toMatchObject({ exit: 0 });
  const shown = [
    ...(await annals.call('log', 'tail')).lines,
    ...(await annals.call('log', 'show', 'user-7', '--json')).lines,
  ].join('\n');
  expect(shown).toContain('"role":"author"');
  expect(shown).not.toContain('Ada');
  expect(shown).not.toContain('ada@');
});

test('--json prints each event completely', async () => {
  await using annals = await open();
  await annals.publish(1);
  const [line = ''] = (await annals.call('log', 'tail', '--json')).lines;
  expect(JSON.parse(line)).toMatchObject({
    stream: 'article-1',
    version: 1,
    position: 1,
    type: 'article.published',
    metadata: { actor: 'system:command-line', version: 1 },
  });
});

test('--expected refuses a stream with another version', async () => {
  await using annals = await open();
  await annals.publish(1);
  const args = [
    'log',
    'append',
    'article-1',
    'article.deleted',
    '{"articleId":1,"authorId":7}',
    '--expected',
    '0',
  ];
  expect(await annals.call(...args)).toMatchObject({ exit: 1, complaint: 'article-1 is not at version 0.' });
});

test.each([
  ['data that the type does not have', ['article-1', 'article.published', '{"articleId":1}'], 'authorId'],
  [
    'an event that is about another stream',
    ['article-2', 'article.published', '{"articleId":1,"authorId":7}'],
    'does not belong on article-2',
  ],
])('appending %s is refused', async (_, args, complaint) => {
  await using annals = await open();
  expect(await annals.call('log', 'append', ...args)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining(complaint),
  });
});

test('production refuses manual appends', async () => {
  await using annals = await open();
  const called = annals.start(['log', 'append', 'user-7', 'user.registered', USER], {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://annals.example',
  });
  expect(await called.exit).toBe(1);
  expect(called.complaints.join()).toContain('in development only');
});

test('the tail can begin anywhere, and be filtered and limited', async () => {
  await using annals = await open();
  for (const id of [1, 2, 3]) await annals.publish(id);
  await annals.call('log', 'append', 'user-7', 'user.registered', USER);
  const positions = async (...options: readonly string[]) =>
    (await annals.call('log', 'tail', '--json', ...options)).lines.map((line) => JSON.parse(line).position);
  expect(await positions()).toEqual([1, 2, 3, 4]);
  expect(await positions('--limit', '2')).toEqual([3, 4]);
  expect(await positions('--type', 'article.published', '--limit', '2')).toEqual([2, 3]);
  expect(await positions('--from', '2')).toEqual([2, 3, 4]);
  expect(await positions('--from', '2', '--limit', '2')).toEqual([2, 3]);
  expect(await positions('--from', '5')).toEqual([]);
});

test('a stream without events is reported as empty', async () => {
  await using annals = await open();
  expect(await annals.call('log', 'show', 'article-9')).toMatchObject({
    exit: 1,
    complaint: 'There are no events in article-9.',
  });
});

test('--follow continues until it is ended', async () => {
  await using annals = await open();
  await annals.publish(1);
  const following = annals.start(['log', 'tail', '--follow']);
  await vi.waitFor(() => expect(following.lines).toHaveLength(1), { timeout: scaled(10_000) });
  await annals.publish(2);
  await vi.waitFor(() => expect(following.lines).toHaveLength(2), { timeout: scaled(10_000) });
  following.end();
  expect(await following.exit).toBe(0);
});

test('an impossible version is refused in one sentence', async () => {
  await using annals = await open();
  const draft = '{"articleId":1,"authorId":7}';
  expect(
    await annals.call('log', 'append', 'article-1', 'article.published', draft, '--expected', '3000000000'),
  ).toMatchObject({
    exit: 1,
    complaint: 'article-1 is not at version 3000000000.',
  });
});

test('a database that does not answer is one sentence that names its setting', async () => {
  await using annals = await open();
  const called = annals.start(['log', 'tail'], {
    DATABASE_URL: 'postgres://annals:hidden@127.0.0.1:1/annals',
  });
  expect(await called.exit).toBe(1);
  expect(called.complaints).toEqual([
    'No PostgreSQL answers at 127.0.0.1:1 (ECONNREFUSED): start it, or set DATABASE_URL to one that runs.',
  ]);
});

test('and so is an EventStoreDB', async () => {
  await using annals = await open();
  const called = annals.start(['log', 'tail'], { EVENT_LOG_URL: 'esdb://127.0.0.1:1?tls=false' });
  expect(await called.exit).toBe(1);
  expect(called.complaints).toEqual([
    'No EventStoreDB answers at 127.0.0.1:1: start it, or set EVENT_LOG_URL to one that runs.',
  ]);
});
