import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { sharedTerminalTest as test } from '../engines/terminal.ts';

/** A person in a terminal calls operations of the interface. */

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('an operation is called by its fields, and a refusal names them', async ({
  call,
  installation,
  listed,
}) => {
  const { url } = installation;
  const title = `Looms ${crypto.randomUUID()}`;
  const [article] = await listed<{ id: number; title: string }>(
    ...['api', 'createArticle', '--title', title, '--body', 'Long.', '--tags', 'looms'],
  );
  expect(article).toMatchObject({ title, tags: ['looms'], status: 'draft' });
  const shown = await call('api', 'getArticle', String(article?.id));
  expect(shown.lines).toContain(`title        ${title}`);
  const file = join(await mkdtemp(join(tmpdir(), 'annals-')), 'cover.png');
  await writeFile(file, PICTURE);
  expect((await call('api', 'putCover', String(article?.id), '--body', file)).exit).toBe(0);
  const [covered] = await until(
    () => listed<{ cover: string | null }>('api', 'getArticle', String(article?.id)),
    ([found]) => typeof found?.cover === 'string',
  );
  const name = covered?.cover?.split('/').at(-1) ?? '';
  expect((await call('api', 'getUpload', name)).complaint).toContain('name a file for it with --output');
  expect((await call('api', 'getUpload', name, '--output', `${file}.out`)).exit).toBe(0);
  expect(await readFile(`${file}.out`)).toEqual(PICTURE);
  expect((await call('api', 'getArticleProof', String(article?.id))).lines.length).toBeGreaterThan(1);
  expect((await call('api', 'deleteArticle', String(article?.id))).complaint).toBe('Done.');
  expect(await call('api', 'getArticle', String(article?.id))).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('article_not_found'),
  });
  expect(await call('api', 'createArticle', '--title', '', '--body', 'x')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(/\n {2}--title: /),
  });
  expect(
    await callLine({ DATA_DIR: '/nowhere' }, ['api', 'listArticles', '--url', url, '--json']),
  ).toMatchObject({
    exit: 0,
    complaint: '',
  });
  expect(
    await callLine({ DATA_DIR: '/nowhere' }, ['api', 'createUser', '--name', 'x', '--url', url]),
  ).toMatchObject({
    exit: 1,
  });
});

test('operations are listed with their fields, also without a token', async ({ installation }) => {
  const callOne = (...args: readonly string[]) =>
    callLine({ DATA_DIR: '/nowhere' }, ['api', '--url', installation.url, ...args]);
  const { exit, output } = await callOne();
  expect(exit).toBe(0);
  expect(output).toMatch(/^Articles:$/m);
  expect(output).toMatch(/^ {2}publishArticle +Publish an article$/m);
  const help = await callOne('createWebhook', '--help');
  expect(help.output).toMatch(/--url <text> +Required\./);
  expect(help.output).not.toContain('The URL of Annals');
  expect(await callOne('publishArtcle', '7')).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining(
      'there is no operation “publishArtcle”; did you mean “publishArticle”?',
    ),
  });
  expect((await callOne('list-event-types')).exit).toBe(0);
});
