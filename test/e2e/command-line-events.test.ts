import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { runCommandLine } from '../../command-line/program.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

/** An operator reads the latest events in a terminal. */
let installation: Installation;
let ask: RestClient;
let ada: Person;
let articleId: number;
beforeAll(async () => {
  installation = await startInstallation();
  ask = restClientOf(installation);
  ada = await (await openPeople(installation)).signUp('Ada');
  articleId = await draft('On engines');
  await ask('PATCH', `/articles/${articleId}`, { token: ada.token, body: { title: 'On looms' } });
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const draft = async (title: string): Promise<number> =>
  (
    (await ask('POST', '/articles', { token: ada.token, body: { title, body: '', tags: [] } })).body as {
      id: number;
    }
  ).id;

const access = () => [
  '--client',
  installation.admin.clientId,
  '--secret',
  installation.admin.secret,
  '--url',
  installation.url,
];
const call = (...args: readonly string[]) =>
  callLine(installation.settings, ['events', ...args, ...access()]);
const told = async (...args: readonly string[]) => {
  const { exit, lines, complaint } = await call(...args, '--json');
  expect({ exit, complaint }).toEqual({ exit: 0, complaint: '' });
  return lines.map(
    (line) =>
      JSON.parse(line) as { id: string; type: string; subject: string; actor: string; correlation: string },
  );
};
const ofArticle = () => ['--subject', `article-${articleId}`];

/** Waits for the read model. */
const bothThere = () =>
  until(
    () => told(...ofArticle()),
    (events) => events.length === 2,
  );

test('the latest events are printed, the newest last', async () => {
  await bothThere();
  const { lines } = await call(...ofArticle());
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(
    new RegExp(`^\\S+Z {2}article-${articleId} {2}article\\.drafted {2}by user:${ada.userId} {2}\\{`),
  );
  expect(lines[1]).toContain('article.edited');
});

test.each<[string, () => readonly string[], number]>([
  ['a pattern of types', () => ['--type', 'article.*', ...ofArticle()], 2],
  ['several types', () => ['--type', 'article.edited', '--type', 'article.published', ...ofArticle()], 1],
  ['who did it', () => ['--by', String(ada.userId), '--type', 'article.edited'], 1],
  ['a text in the data', () => ['--text', 'on LOOMS', ...ofArticle()], 1],
  ['a time before', () => ['--until', '1d', ...ofArticle()], 0],
  ['a time since', () => ['--since', '1h', ...ofArticle()], 2],
  ['so many', () => ['--limit', '1', ...ofArticle()], 1],
])('they are chosen by %s', async (_, args, count) => {
  await bothThere();
  expect(await told(...args())).toHaveLength(count);
});

test('everything that follows from one request is found by its correlation', async () => {
  const [first] = await bothThere();
  expect(await told('--request', first?.correlation ?? '')).toEqual([
    expect.objectContaining({ id: first?.id }),
  ]);
});

test('one event is shown with its actor, cause, and proof', async () => {
  const [first] = await bothThere();
  const { exit, lines } = await call('show', first?.id ?? '', '--trace');
  expect(exit).toBe(0);
  const text = lines.join('\n');
  expect(text).toMatch(/^article\.drafted\nID +[0-9a-f-]{36}$/m);
  expect(text).toMatch(new RegExp(`^By +user:${ada.userId}$`, 'm'));
  expect(text).toMatch(/^Proof +(?:not in the chain yet|event \d+ of the chain)/m);
  expect(text).toContain('"title": "On engines"');
  expect(text).toContain('From the same request: 1 event');
});

test('--follow continues with new events until the end', async () => {
  const ending = new AbortController();
  const lines: string[] = [];
  const running = runCommandLine(
    ['events', '--follow', '--type', 'article.drafted', '--limit', '1', ...access()],
    {
      domain: publishing,
      environment: { NODE_ENV: 'test', ...installation.settings },
      signal: ending.signal,
      write: async (line) => void lines.push(line),
      complain: (line) => void lines.push(line),
    },
  );
  await until(
    async () => lines.length,
    (count) => count === 1,
  );
  const next = await draft('On cards');
  await until(
    async () => lines.at(-1) ?? '',
    (line) => line.includes(`article-${next}`),
  );
  expect(lines).toHaveLength(2);
  ending.abort();
  expect(await running).toBe(0);
});

test.each([
  [['--type', 'article.eaten'], 64, 'there is no event type “article.eaten”'],
  [['--since', 'soon'], 64, '--since must be a time'],
  [['--follow', '--until', '1h'], 64, '--until does not go with --follow'],
  [['show', '7'], 64, '<id> must be that of an event'],
  [['show', '01985f3e-0000-7000-8000-000000000000'], 1, 'event_not_found'],
])('%j is refused', async (args, exit, complaint) => {
  expect(await call(...args)).toMatchObject({ exit, complaint: expect.stringContaining(complaint) });
});
