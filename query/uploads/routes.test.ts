import { Readable } from 'node:stream';
import { describe, expect } from 'vitest';
import { newBlobName } from '#shared/blobs/blob-name.ts';
import { PICTURE_TYPES, picture } from '../../test/engines/pictures.ts';
import { ARTICLE, CONTENT, test } from '../../test/engines/served-uploads.ts';

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('an upload', () => {
  test.for(PICTURE_TYPES)(
    'of %s has its media type and is cached for minutes, and a browser executes nothing in it',
    async (type, { blobs, get }) => {
      const [name, bytes] = [newBlobName(ARTICLE, type), picture(type, 300_000)];
      await blobs.put(name, Readable.from([bytes]));
      const response = await get(name);
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'content-length': '300000',
        'content-disposition': `inline; filename="${name}"`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'public, max-age=300',
        'accept-ranges': 'bytes',
        etag: `"${name}"`,
      });
      expect((await bytesOf(response)).equals(bytes)).toBe(true);
    },
  );

  test('that is also a valid HTML page is served as a picture', async ({ get, gif }) => {
    const response = await get(gif, { Accept: 'text/html' });
    expect(response.headers.get('content-type')).toBe('image/gif');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
  });

  test('answers HEAD like GET, without the bytes and without reading them', async ({ get, gif }) => {
    const [head, whole] = [await get(gif, {}, 'HEAD'), await get(gif)];
    const headersOf = ({ headers }: Response) =>
      Object.entries(Object.fromEntries(headers)).filter(
        ([name]) => !/^(date|x-request-id|connection|keep-alive)$/.test(name),
      );
    expect(headersOf(head)).toEqual(headersOf(whole));
    expect(await head.text()).toBe('');
  });

  test.for(['"{}"', 'W/"{}"', '"other", "{}"', '*'])(
    'is not sent again to who has it: If-None-Match %s',
    async (header, { get, gif }) => {
      const response = await get(gif, { 'If-None-Match': header.replace('{}', gif) });
      expect({ status: response.status, body: await response.text() }).toEqual({ status: 304, body: '' });
      expect(response.headers.get('etag')).toBe(`"${gif}"`);
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(response.headers.get('content-type')).toBeNull();
    },
  );

  test.for(['"other"', 'nonsense', ''])(
    'is sent to who has something else: If-None-Match %j',
    async (header, { get, gif }) => {
      expect((await get(gif, { 'If-None-Match': header })).status).toBe(200);
    },
  );
});

describe('a range of an upload', () => {
  const bytes = CONTENT.length;
  test.for<[string, number, number]>([
    ['bytes=0-5', 0, 5],
    ['bytes=6-', 6, bytes - 1],
    ['bytes=-3', bytes - 3, bytes - 1],
    ['bytes=0-99999', 0, bytes - 1],
    ['bytes=-99999', 0, bytes - 1],
  ])('%s', async ([range, start, end], { get, gif }) => {
    const response = await get(gif, { Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes}`);
    expect(response.headers.get('content-type')).toBe('image/gif');
    expect((await bytesOf(response)).equals(CONTENT.subarray(start, end + 1))).toBe(true);
  });

  test.for([
    'bytes=0-1,3-4',
    'bytes=',
    'bytes=a-b',
    'bytes=5-2-1',
    'items=0-1',
    'items=999-',
    'nonsense',
    `bytes=${'0-0,'.repeat(1_000)}1-1`,
  ])('of several ranges, or an invalid one, is the whole: %s', async (range, { get, gif }) => {
    const response = await get(gif, { Range: range });
    expect(response.status).toBe(200);
    expect((await bytesOf(response)).equals(CONTENT)).toBe(true);
  });

  test.for(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0'])(
    'that is not there: %s',
    async (range, { get, gif }) => {
      const response = await get(gif, { Range: range });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe(`bytes */${bytes}`);
      expect(await response.json()).toMatchObject({ code: 'range_not_satisfiable' });
    },
  );

  test('is served only if If-Range names the current bytes', async ({ get, gif }) => {
    expect((await get(gif, { Range: 'bytes=0-1', 'If-Range': `"${gif}"` })).status).toBe(206);
    expect((await get(gif, { Range: 'bytes=0-1', 'If-Range': '"other"' })).status).toBe(200);
    expect((await get(gif, { Range: 'bytes=0-1' }, 'HEAD')).status).toBe(200);
  });
});

test.for(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is not taken', async (method, { get, gif }) => {
  const response = await get(gif, {}, method);
  expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
    status: 405,
    allow: 'GET, HEAD, OPTIONS',
  });
});

test('OPTIONS names the methods', async ({ get, gif }) => {
  const response = await get(gif, {}, 'OPTIONS');
  expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({
    status: 204,
    allow: 'GET, HEAD, OPTIONS',
  });
});
