import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { PICTURE_BYTES_MAX } from '#kernel/base/image-type.ts';
import { parseBlobName } from '#shared/blobs/blob-name.ts';
import { chunk, test } from '../../test/engines/cover-api.ts';
import { PICTURE_TYPES, picture } from '../../test/engines/pictures.ts';
import { until } from '../../testing/until.ts';

describe('a cover', () => {
  test.for(PICTURE_TYPES)('of %s is stored unchanged, and the article names it', async (type, { api }) => {
    const content = picture(type, 200_000);
    const { status, headers, body } = await api.put(content, type);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.any(Number),
        version: 2,
        cursor: expect.any(String),
        _links: { self: { href: api.article } },
      },
    });
    expect(headers.get('etag')).toMatch(/^"2-/);
    expect(headers.get('consistency-token')).toBe(body.cursor);
    const [name = '', ...others] = await api.stored();
    expect(others).toEqual([]);
    expect(parseBlobName(name)).toBe(name);
    expect(await api.coverOf()).toBe(`/uploads/${name}`);
    expect((await readFile(join(api.uploads, name))).equals(content)).toBe(true);
  });

  test('may have the maximum size, a type with parameters in any case, a header in many pieces, and no length', async ({
    api,
  }) => {
    expect(await api.put(picture('image/png', PICTURE_BYTES_MAX), 'IMAGE/PNG; q=1')).toMatchObject({
      status: 200,
    });
    const socket = await api.begin({ 'Transfer-Encoding': 'chunked', Connection: 'close' });
    for (const byte of picture('image/png', 300)) socket.write(chunk(Buffer.from([byte])));
    socket.write('0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /);
    const kept = await until(api.stored, ({ length }) => length === 1);
    expect(kept.map((name) => `/uploads/${name}`)).toEqual([await api.coverOf()]);
  });

  test('with a repeated key is set once and stored once', async ({ api }) => {
    const headers = { 'Idempotency-Key': `cover${api.article}` };
    const content = picture('image/png', 2_000);
    const first = await api.put(content, 'image/png', { headers });
    const cover = await api.coverOf();
    const again = await api.put(content, 'image/png', { headers });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await api.coverOf()).toBe(cover);
    expect((await api.stored()).map((name) => `/uploads/${name}`)).toEqual([cover]);
    const other = await api.put(picture('image/png', 3_000), 'image/png', { headers });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    expect(await api.stored()).toHaveLength(1);
  });

  test('with a repeated key and a version is set once and reported again', async ({ api }) => {
    const headers = { 'Idempotency-Key': `version${api.article}`, 'If-Match': '"1-x"' };
    const content = picture('image/png', 2_000);
    const first = await api.put(content, 'image/png', { headers });
    expect(first).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await api.put(content, 'image/png', { headers })).toMatchObject({
      status: 200,
      body: first.body,
    });
    const late = await api.put(content, 'image/png', {
      headers: { ...headers, 'Idempotency-Key': `late${api.article}` },
    });
    expect(late).toMatchObject({ status: 412 });
    expect(await api.stored()).toHaveLength(1);
  });

  test('is removed by DELETE, idempotently', async ({ api }) => {
    await api.put(picture('image/png'), 'image/png');
    for (let each = 0; each < 2; each += 1) {
      const { status, headers, body } = await api.send('DELETE', `${api.article}/cover`);
      expect({ status, body }).toEqual({ status: 204, body: {} });
      expect(headers.get('consistency-token')).not.toBeNull();
      expect(await api.coverOf()).toBeNull();
    }
  });

  test('has the same path below /api', async ({ api }) => {
    api.article = `/api${api.article}`;
    expect((await api.put(picture('image/png'), 'image/png')).body._links).toEqual({
      self: { href: api.article.slice(4) },
    });
  });

  test('concurrent covers of one article are all accepted, and the last one is kept', async ({ api }) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.put(picture('image/gif', 50_000), 'image/gif')),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.version)).size).toBe(10);
    const kept = await until(api.stored, ({ length }) => length === 1);
    expect(kept.map((name) => `/uploads/${name}`)).toEqual([await api.coverOf()]);
  });

  test('of concurrent covers for one version, one is kept, and the others leave nothing', async ({ api }) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        api.put(picture('image/gif', 50_000), 'image/gif', { headers: { 'If-Match': '"1-x"' } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
    expect((await api.stored()).map((name) => `/uploads/${name}`)).toEqual([await api.coverOf()]);
  });
});

describe('unsupported content is refused, and nothing of it is kept', () => {
  const GIF_THAT_IS_A_PAGE = Buffer.from('GIF89a/*<script>alert(1)</script>*/=1;');
  test.for<[string, Buffer, string, string?]>([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), 'image/svg+xml'],
    ['SVG as PNG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
    ['HTML as GIF', Buffer.from('<!doctype html><script>alert(1)</script>'), 'image/gif'],
    ['HTML', Buffer.from('<!doctype html>'), 'text/html'],
    ['a PNG as JPEG', picture('image/png'), 'image/jpeg'],
    ['a JPEG as AVIF', picture('image/jpeg'), 'image/avif'],
    ['HEIC as AVIF', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'), 'image/avif'],
    ['WAV as WebP', Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'), 'image/webp'],
    ['a PNG that ends in its signature', picture('image/png').subarray(0, 7), 'image/png'],
    ['a picture after a blank', Buffer.concat([Buffer.from(' '), picture('image/gif')]), 'image/gif'],
    ['anything as anything', randomBytes(1_000), 'image/png'],
    ['a picture as bytes', picture('image/png'), 'application/octet-stream'],
    ['a picture of two types', picture('image/png'), 'image/png, image/gif'],
    ['a page that is a GIF, as a page', GIF_THAT_IS_A_PAGE, 'text/html'],
    ['nothing', Buffer.alloc(0), 'image/png', '422 invalid_request'],
    ['too much', picture('image/png', PICTURE_BYTES_MAX + 1), 'image/png', '413 body_too_large'],
    ['much too much', picture('image/png', 3 * PICTURE_BYTES_MAX), 'image/png', '413 body_too_large'],
  ])('%s (%#)', async ([, content, type, refusal = '415 unsupported_media_type'], { api }) => {
    const { status, body } = await api.put(content, type);
    expect(`${status} ${body.code}`).toBe(refusal);
    await api.nothingHappened();
  });

  test('a page that is a GIF as well is stored as a GIF, with that extension', async ({ api }) => {
    expect(await api.put(GIF_THAT_IS_A_PAGE, 'image/gif')).toMatchObject({ status: 200 });
    expect(await api.stored()).toEqual([expect.stringMatching(/\.gif$/)]);
  });

  test('a missing type, an encoding and a range are refused, with the supported types', async ({ api }) => {
    const content = picture('image/png');
    const untyped = await api.put(content, '');
    expect(untyped).toMatchObject({ status: 415 });
    expect(untyped.headers.get('accept')).toBe('image/png, image/jpeg, image/webp, image/gif, image/avif');
    expect(await api.put(content, 'image/png', { headers: { 'Content-Encoding': 'gzip' } })).toMatchObject({
      status: 415,
    });
    expect(
      await api.put(content, 'image/png', { headers: { 'Content-Range': 'bytes 0-9/100' } }),
    ).toMatchObject({ status: 400 });
    await api.nothingHappened();
  });

  test('a body of unknown length is refused once it is too long, and the connection remains usable', async ({
    api,
  }) => {
    const socket = await api.begin({ 'Transfer-Encoding': 'chunked' });
    const part = randomBytes(1_048_576);
    socket.write(chunk(picture('image/png')));
    for (let sent = 0; sent <= PICTURE_BYTES_MAX; sent += part.length) socket.write(chunk(part));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /);
    socket.write(chunk(part));
    socket.write('0\r\n\r\nGET /absent HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/HTTP\/1.1 404 /);
    await api.nothingHappened();
  });
});
