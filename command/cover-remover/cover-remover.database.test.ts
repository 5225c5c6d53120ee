import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type Asker, type Backend, openBackend } from '../../test/engines/backend.ts';
import { picture } from '../../test/engines/pictures.ts';
import type { ArticleId } from '../../test/publishing-ids.ts';
import { until } from '../../testing/until.ts';
import { lostUploadsIn, removeLostUploads } from './lost-uploads.ts';

let backend: Backend;
let author: Asker;
let article: string;
beforeAll(async () => {
  backend = await openBackend();
  author = await backend.person('author');
});
afterAll(async () => {
  await backend?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  article = await write();
});

const write = async (): Promise<string> => {
  const body = { title: 'One', body: '', tags: [], publish: true };
  const { headers } = await backend.ask('/articles', { method: 'POST', by: author, body });
  return headers.get('location') ?? '';
};
const change = (method: string, path: string, body?: unknown, type = 'application/json') =>
  backend.ask(path, { method, by: author, type, ...(body !== undefined && { body }) });
const statusOf = async (path: string): Promise<number> => (await backend.ask(path)).status;
const gone = (path: string) =>
  until(
    () => statusOf(path),
    (status) => status === 404,
  );

/** Uploads a picture of the article, and returns its path. */
const paint = async (path = article): Promise<string> => {
  expect(await change('PUT', `${path}/cover`, picture('image/png'), 'image/png')).toMatchObject({
    status: 200,
  });
  const { body } = await backend.ask(path);
  return (body as { cover: string }).cover;
};

describe('a picture exists as long as its article has it, and is removed', () => {
  test('when another picture replaces it', async () => {
    const first = await paint();
    expect(await statusOf(first)).toBe(200);
    const second = await paint();
    await gone(first);
    expect(await statusOf(second)).toBe(200);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['the cover is taken away', (path) => change('DELETE', `${path}/cover`)],
    [
      'the cover becomes a picture elsewhere',
      (path) => change('PATCH', path, { cover: 'https://example.com/a.png' }),
    ],
    ['the article is deleted', (path) => change('DELETE', path)],
  ])('when %s', async (_when, act) => {
    const [cover, other] = [await paint(), await paint(await write())];
    await change('PATCH', article, { title: 'Two' });
    expect(await statusOf(cover)).toBe(200);
    await act(article);
    await gone(cover);
    expect(await statusOf(other)).toBe(200);
  });

  test('when its author is deleted, together with the draft', async () => {
    const leaver = await backend.person('author');
    const { headers } = await backend.ask('/articles', {
      method: 'POST',
      by: leaver,
      body: { title: 'One', body: '', tags: [] },
    });
    const path = headers.get('location') ?? '';
    await backend.ask(`${path}/cover`, {
      method: 'PUT',
      by: leaver,
      body: picture('image/gif'),
      type: 'image/gif',
    });
    const { cover } = (await backend.ask(path, { by: leaver })).body as { cover: string };
    await backend.ask(`/users/${leaver.id}`, { method: 'DELETE', by: leaver });
    await gone(cover);
  });
});

describe('an article accepts only its own uploads', () => {
  test.each(['PATCH', 'POST'])('by %s', async (method) => {
    const cover = await paint(await write());
    const path = method === 'POST' ? '/articles' : article;
    const refused = await change(
      method,
      path,
      method === 'POST' ? { title: 'One', body: '', tags: [], cover } : { cover },
    );
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', errors: [{ pointer: '/cover' }] },
    });
    await change('DELETE', article);
    expect(await statusOf(cover)).toBe(200);
  });

  test('and none that it had before', async () => {
    const first = await paint();
    const { body } = await backend.ask(article, { by: author });
    const second = await paint();
    expect(await change('PUT', article, body)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/cover' }] },
    });
    await gone(first);
    expect(await statusOf(second)).toBe(200);
  });

  test('which may be sent back unchanged', async () => {
    await paint();
    const { body, headers } = await backend.ask(article, { by: author });
    expect(await change('PUT', article, body)).toMatchObject({
      status: 200,
      body: { version: Number(/\d+/.exec(headers.get('etag') ?? '')) },
    });
  });
});

test('removing again over the whole history removes nothing that is in use', async () => {
  await paint();
  await paint();
  const cover = await paint();
  const removed: string[] = [];
  const blobs = { remove: async (name: string) => void removed.push(name) };
  const { eventLog } = backend.side;
  const stream = article.replace('/articles/', 'article-') as RecordedEvent['stream'];
  const lostIn = lostUploadsIn(publishing);
  const lost = (await Array.fromAsync(eventLog.read(stream))).flat().flatMap((event) => lostIn(event) ?? []);
  for (let time = 0; time < 2; time += 1)
    for (const each of lost) await removeLostUploads({ eventLog, blobs }, each);
  expect(removed).toHaveLength(4);
  expect(removed.slice(0, 2)).toEqual(removed.slice(2));
  expect(removed).not.toContain(cover.replace('/uploads/', ''));
  expect(new Set(removed.map((name) => Number(name.split('-')[0]) as ArticleId))).toEqual(
    new Set([Number(article.split('/').at(-1))]),
  );
});

test('a storage that fails to remove delays no erasure, and is retried until it succeeds', async () => {
  const leaver = await backend.person('author');
  const { uploads, keys } = backend.side;
  const { headers } = await backend.ask('/articles', {
    method: 'POST',
    by: leaver,
    body: { title: 'One', body: '', tags: [] },
  });
  const path = `${headers.get('location')}/cover`;
  await backend.ask(path, { method: 'PUT', by: leaver, body: picture('image/gif'), type: 'image/gif' });
  const [name] = (await readdir(uploads)).filter((each) => each.startsWith(path.split('/')[2] ?? '-'));
  const file = join(uploads, name ?? '');
  await rm(file);
  // A directory cannot be removed like a file.
  await mkdir(file);
  await backend.ask(`/users/${leaver.id}`, { method: 'DELETE', by: leaver });
  await until(
    () => keys.find([leaver.id]),
    (found) => found.get(leaver.id) === 'destroyed',
  );
  await rmdir(file);
  await writeFile(file, picture('image/gif'));
  await until(
    () => readdir(uploads),
    (names) => !names.includes(name ?? ''),
  );
});
