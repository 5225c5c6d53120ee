import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { createClient } from '../../client/client.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startExample } from '../engines/example.ts';
import { operate } from '../engines/installation.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { startLocalServer } from '../engines/local-server.ts';

/** The job of docs/client.md, registered and started as the page says, and killed repeatedly. */
const DEADLINE_MS = 60_000;
const ARTICLES = 8;
const PAGE = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8').split('\n');
const lineOf = (beginning: string) => PAGE.find((line) => line.startsWith(beginning)) ?? '';

const test = sharedTest
  .extend('client', { scope: 'file' }, ({ ada, installation, people }) => {
    let person = ada;
    // On a busy machine the kills take longer than a token lives.
    const session = {
      authorize: async () => ({ Authorization: `Bearer ${person.token}` }),
      async refused() {
        person = await people.refresh(person, 'author');
        return true;
      },
    };
    return createClient<typeof publishing>({ url: installation.origin, token: session });
  })
  .extend('environment', { scope: 'file' }, async ({ installation, people }) => {
    const words = (lineOf('npm run annals -- client create Greeter').match(/'[^']*'|\S+/g) ?? []).map(
      (word) => word.replaceAll("'", ''),
    );
    const output = await operate(words.slice('npm run annals --'.split(' ').length), installation.settings);
    const secret = /"secret": "([^"]+)"/.exec(output)?.[1] ?? '';
    // Signs in as soon as it is known, so that the job need not wait.
    await people.tokenOf({ clientId: 'greeter', secret });
    return { ANNALS_URL: installation.origin, CLIENT_ID: 'greeter', CLIENT_SECRET: secret };
  })
  .extend('folder', { scope: 'file' }, async ({ installation: _used }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    return folder.path;
  })
  .extend(
    'start',
    { scope: 'file' },
    ({ environment, folder }) =>
      (file: string, more: object = {}) =>
        startExample(lineOf('node docs/examples/greet.js').replace('greet.cursor', join(folder, file)), {
          ...environment,
          ...more,
        }),
  )
  /** A proxy in front of Annals, without a route to comments. */
  .extend(
    'startProxy',
    { scope: 'file' },
    ({ installation }) =>
      () =>
        startLocalServer((request, response) => {
          if (request.url?.endsWith('/comments'))
            return response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
          const { method, headers } = request;
          const onward = ask(`${installation.origin}${request.url}`, { method, headers }, (answer) => {
            response.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(response);
          });
          onward.on('error', () => response.destroy());
          response.on('close', () => onward.destroy());
          return request.pipe(onward);
        }),
  );

test('each article has one comment, wherever the job was killed', async ({ client, start }) => {
  const first = start('greet.cursor');
  await until(first.complaints, (text) => text.includes('following after'), DEADLINE_MS);
  await first.kill('SIGKILL');
  const articles: number[] = [];
  for (let index = 0; index < ARTICLES; index++)
    articles.push((await client.articles.create({ title: `Article ${index}`, body: '', publish: true })).id);
  const cursors: string[] = [];
  while (new Set(cursors).size < ARTICLES) {
    await using job = start('greet.cursor');
    // Between the comment and the saved cursor, or a little later.
    await until(
      () => [job.cursors().length, job.complaints()],
      ([count]) => count !== 0,
      DEADLINE_MS,
    );
    await job.kill('SIGKILL');
    cursors.push(...job.cursors());
  }
  for (const id of articles)
    expect(await Array.fromAsync(client.articles.of(id).comments.list()), `article ${id}`).toHaveLength(1);
});

test('it continues after a deleted article, and ends on a signal', async ({ client, start }) => {
  const gone = await client.articles.create({ title: 'Gone', body: '', publish: true });
  await client.articles.delete(gone.id);
  const { id } = await client.articles.create({ title: 'There', body: '', publish: true });
  await using job = start('greet.cursor');
  const comments = () => Array.fromAsync(client.articles.of(id).comments.list());
  await until(comments, ({ length }) => length === 1, DEADLINE_MS);
  await job.kill('SIGTERM');
  expect(job.complaints()).not.toContain('Error');
});

test('a 404 of a proxy does not mean that the article is gone', async ({ client, start, startProxy }) => {
  const first = start('proxy.cursor');
  await until(first.complaints, (text) => text.includes('following after'), DEADLINE_MS);
  await first.kill();
  const { id } = await client.articles.create({ title: 'Behind a proxy', body: '', publish: true });
  await using proxy = await startProxy();
  await using misled = start('proxy.cursor', { ANNALS_URL: proxy.url });
  const ended = await until(
    () => ({ greeted: misled.cursors(), complaints: misled.complaints() }),
    ({ greeted, complaints }) => greeted.length > 0 || complaints.includes('unexpected_answer'),
    DEADLINE_MS,
  );
  expect(ended.greeted).toEqual([]);
  await using job = start('proxy.cursor');
  await until(
    () => Array.fromAsync(client.articles.of(id).comments.list()),
    ({ length }) => length === 1,
    DEADLINE_MS,
  );
  expect(job.complaints()).not.toContain('Error');
});

test('an unreadable cursor does not count as a first run', async ({ folder, start }) => {
  await symlink(join(folder, 'loop.cursor'), join(folder, 'loop.cursor'));
  await using job = start('loop.cursor');
  expect(await until(job.complaints, (text) => /following after|ELOOP/.test(text), DEADLINE_MS)).toContain(
    'ELOOP',
  );
});

test('an empty cursor does not count as a first run', async ({ folder, start }) => {
  await writeFile(join(folder, 'empty.cursor'), '');
  await using job = start('empty.cursor');
  expect(await until(job.complaints, (text) => /following after|Error/.test(text), DEADLINE_MS)).toContain(
    'empty.cursor is empty',
  );
});
