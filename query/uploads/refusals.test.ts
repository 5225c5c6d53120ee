import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect } from 'vitest';
import { newBlobName } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import { openFolderBlobs } from '#shared/blobs/folder/folder-blobs.ts';
import { picture } from '../../test/engines/pictures.ts';
import { ARTICLE, ofPublished, test } from '../../test/engines/served-uploads.ts';
import { serveRoutes } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { uploadRoutes } from './routes.ts';

/** Sends the path without normalizing it. */
const getRaw = async (
  origin: string,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> => {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const { hostname, port } = new URL(origin);
  httpRequest({ hostname, port, path }, async (response) => {
    let body = '';
    for await (const chunk of response) body += String(chunk);
    resolve({ status: response.statusCode ?? 0, body });
  })
    .on('error', reject)
    .end();
  return promise;
};

describe('404 for anything that is not an upload', () => {
  test.beforeAll(async ({ folder }) => {
    await writeFile(join(folder, '..', 'secret.png'), 'secret');
    await writeFile(join(folder, 'plain.png'), 'secret');
  });

  const ID = '8001-01a1fddd-a042-71be-964a-56e37782b344';
  test.for([
    `/uploads/${ID}.png`,
    '/uploads/plain.png',
    '/uploads/incoming',
    '/uploads/..%2fsecret.png',
    '/uploads/%2e%2e%2fsecret.png',
    '/uploads/..%5csecret.png',
    '/uploads/%2e%2e',
    '/uploads/../secret.png',
    '/uploads/incoming/../../secret.png',
    '/uploads/..%252fsecret.png',
    '/uploads/%00',
    `/uploads/${ID}.png%00`,
    `/uploads/${ID}.png%0a`,
    `/uploads/${ID}.gif%2f..%2fplain.png`,
    `/uploads/${ID}.svg`,
    `/uploads/${ID.slice(5)}.png`,
    `/uploads/0${ID}.png`,
    `/uploads/${ID.toUpperCase()}.PNG`,
    `/uploads/${'a'.repeat(7_000)}`,
    '/uploads/',
    '/uploads',
  ])('%s', async (path, { url }) => {
    const { status, body } = await getRaw(url, path);
    expect({ status, ...(JSON.parse(body) as object) }).toMatchObject({ status: 404, code: 'not_found' });
    expect(body).not.toContain('secret');
  });

  test('a path that is not valid UTF-8', async ({ url }) => {
    expect((await getRaw(url, '/uploads/%zz')).status).toBe(400);
    expect((await getRaw(url, '/uploads/%ff')).status).toBe(400);
  });

  test('a link that leaves the folder, and a folder', async ({ folder, get }) => {
    const [link, directory] = [newBlobName(ARTICLE, 'image/png'), newBlobName(ARTICLE, 'image/png')];
    await symlink(join(folder, '..', 'secret.png'), join(folder, link));
    await mkdir(join(folder, directory));
    expect((await get(link)).status).toBe(404);
    expect((await get(directory)).status).toBe(404);
  });

  test('a removed upload, also with its ETag', async ({ blobs, get }) => {
    const name = newBlobName(ARTICLE, 'image/png');
    await blobs.put(name, Readable.from([picture('image/png')]));
    expect((await get(name)).status).toBe(200);
    await blobs.remove(name);
    const gone = await get(name, { 'If-None-Match': `"${name}"` });
    expect(gone.status).toBe(404);
    expect(gone.headers.get('cache-control')).toBe('no-store');
  });
});

describe('a failing store', () => {
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(1_000);
    throw new Error('the disk is broken');
  };

  test('in the middle of a response, closes the connection and is logged', async ({ gif }) => {
    await using broken = await serveRoutes(
      uploadRoutes({
        blobs: { find: async () => ({ bytes: 5_000 }), read: async () => Readable.from(failing()) },
        ...ofPublished,
      }),
    );
    const response = await fetch(`${broken.url}/uploads/${gif}`);
    await expect(response.arrayBuffer()).rejects.toThrow();
    await until(broken.logged, (log) => log.includes('the disk is broken'));
  });

  test('before the response begins, answers 503', async ({ folder, gif }) => {
    const place = join(folder, '..', 'broken');
    await using there = await openFolderBlobs(place);
    await using broken = await serveRoutes(uploadRoutes({ blobs: there, ...ofPublished }));
    await rm(place, { recursive: true });
    await writeFile(place, 'a file in its place');
    const response = await fetch(`${broken.url}/uploads/${gif}`);
    expect({ status: response.status, after: response.headers.get('retry-after') }).toEqual({
      status: 503,
      after: '1',
    });
  });

  test('a client that disconnects is no failure, and its file is closed', async ({ blobs }) => {
    const name = newBlobName(ARTICLE, 'image/png');
    await blobs.put(name, Readable.from([picture('image/png', 10_000_000)]));
    const bodies: Readable[] = [];
    const read: Blobs['read'] = async (...asked) => {
      const body = await blobs.read(...asked);
      if (body) bodies.push(body);
      return body;
    };
    await using watched = await serveRoutes(uploadRoutes({ blobs: { ...blobs, read }, ...ofPublished }));
    for (let index = 0; index < 5; index += 1) {
      const leaving = new AbortController();
      const response = await fetch(`${watched.url}/uploads/${name}`, { signal: leaving.signal });
      await response.body?.getReader().read();
      leaving.abort();
    }
    await until(
      () => bodies.map(({ closed }) => closed),
      (closed) => closed.length === 5 && !closed.includes(false),
    );
    expect(watched.logged()).not.toContain('A request failed');
  });
});
