import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { runCommandLine } from '../../command-line/program.ts';
import { ALL_PARTS } from '../../parts.ts';
import { until } from '../../testing/until.ts';
import { sharedTerminalTest } from '../engines/terminal.ts';

/** An operator reads the latest events in a terminal. */

const test = sharedTerminalTest
  .extend('draft', { scope: 'file' }, ({ ada, ask }) => async (title: string): Promise<number> => {
    const { body } = await ask('POST', '/articles', {
      token: ada.token,
      body: { title, body: '', tags: [] },
    });
    return (body as { id: number }).id;
  })
  .extend('articleId', { scope: 'file' }, async ({ ada, ask, draft }) => {
    const articleId = await draft('On engines');
    await ask('PATCH', `/articles/${articleId}`, { token: ada.token, body: { title: 'On looms' } });
    return articleId;
  })
  .extend('ofArticle', { scope: 'file' }, ({ articleId }) => ['--subject', `article-${articleId}`])
  /** Waits for the read model. */
  .extend(
    'bothThere',
    { scope: 'file' },
    ({ listed, ofArticle }) =>
      () =>
        until(
          () => listed<{ id: string; correlation: string }>('events', ...ofArticle),
          (events) => events.length === 2,
        ),
  );

test('the latest events are printed, the newest last', async ({
  ada,
  articleId,
  bothThere,
  call,
  ofArticle,
}) => {
  await bothThere();
  const { lines } = await call('events', ...ofArticle);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(
    new RegExp(
      `^\\S+Z {2}article-${articleId} \\(.+\\) {2}article\\.drafted {2}by Ada.* \\(user:${ada.userId}\\) {2}\\{`,
    ),
  );
  expect(lines[1]).toContain('article.edited');
});

test.for<[string, readonly string[], number]>([
  ['a pattern of types', ['--type', 'article.*'], 2],
  ['several types', ['--type', 'article.edited', '--type', 'article.published'], 1],
  ['a text in the data', ['--text', 'on LOOMS'], 1],
  ['a time before', ['--until', '1d'], 0],
  ['a time since', ['--since', '1h'], 2],
  ['a limited number', ['--limit', '1'], 1],
])('they can be filtered by %s', async ([_, args, count], { bothThere, listed, ofArticle }) => {
  await bothThere();
  expect(await listed('events', ...args, ...ofArticle)).toHaveLength(count);
});

test('they are chosen by who did it', async ({ ada, bothThere, listed }) => {
  await bothThere();
  expect(await listed('events', '--by', String(ada.userId), '--type', 'article.edited')).toHaveLength(1);
});

test('everything that follows from one request is found by its correlation', async ({
  bothThere,
  listed,
}) => {
  const [first] = await bothThere();
  expect(await listed('events', '--request', first?.correlation ?? '')).toEqual([
    expect.objectContaining({ id: first?.id }),
  ]);
});

test('one event is shown with its actor, cause, and proof', async ({ ada, bothThere, call }) => {
  const [first] = await bothThere();
  const { exit, lines } = await call('events', 'show', first?.id ?? '', '--trace');
  expect(exit).toBe(0);
  const text = lines.join('\n');
  expect(text).toMatch(/^article\.drafted\nID +[0-9a-f-]{36}$/m);
  expect(text).toMatch(new RegExp(`^By +Ada \\(user:${ada.userId}\\)$`, 'm'));
  expect(text).toMatch(/^Proof +(?:not in the chain yet|event \d+ of the chain)/m);
  expect(text).toContain('"title": "On engines"');
  expect(text).toContain('From the same request: 1 event');
});

test('--follow continues with new events until the end', async ({ access, draft, installation }) => {
  const ending = new AbortController();
  const lines: string[] = [];
  const running = runCommandLine(
    ['events', '--follow', '--type', 'article.drafted', '--limit', '1', ...access],
    {
      domain: publishing,
      parts: ALL_PARTS,
      environment: { NODE_ENV: 'test', ...installation.settings },
      clock: REAL_TIME,
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

test.for<[readonly string[], number, string]>([
  [['--type', 'article.eaten'], 64, 'there is no event type “article.eaten”'],
  [['--since', 'soon'], 64, '--since must be a time'],
  [['--follow', '--until', '1h'], 64, '--until cannot be combined with --follow'],
  [['show', '7'], 64, '<id> must be the id of an event'],
  [['show', '01985f3e-0000-7000-8000-000000000000'], 1, 'event_not_found'],
])('%j is refused', async ([args, exit, complaint], { call }) => {
  expect(await call('events', ...args)).toMatchObject({
    exit,
    complaint: expect.stringContaining(complaint),
  });
});
