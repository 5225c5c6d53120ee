import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Response, Router } from 'express';
import { expect, test } from 'vitest';
import { serveRoutes } from '../../test/serve.ts';
import { answerIn, compressAs, preferredCoding, THOROUGH } from './content-coding.ts';

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;Q=0.9, br;q=0.8', 'gzip'],
  ['zstd;q=0, br;q=0, *', 'gzip'],
  ['*', 'zstd'],
  ['*;q=0', 'identity'],
  ['deflate', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['identity;q=0.5, gzip', 'gzip'],
  ['gzip;q=nonsense', 'identity'],
  ['gzip;q=2', 'identity'],
  [',,gzip ; q=1.000 ,', 'gzip'],
])('for Accept-Encoding: %s is %s', (header, coding) => {
  expect(preferredCoding(header)).toBe(coding);
});

test('a compressed response decompresses to the original', async () => {
  const bytes = Buffer.from('what it was '.repeat(1_000));
  const decoded = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
  for (const coding of ['zstd', 'br', 'gzip'] as const)
    for (const levels of [undefined, THOROUGH]) {
      const compressed = await compressAs(coding, bytes, levels);
      expect(compressed.length).toBeLessThan(bytes.length / 10);
      expect(decoded[coding](compressed).equals(bytes)).toBe(true);
    }
});

test('under a load of compressions, responses are sent uncompressed', async () => {
  const waiting: (() => void)[] = [];
  const text = 'what it is '.repeat(30_000);
  const answer = (response: Response, all: number) => {
    const body = answerIn(response.req, response, { text, entityTag: '"1"' });
    waiting.push(() => void body.send());
    response.set('ETag', body.entityTag).type('text');
    if (waiting.length === all) for (const send of waiting.splice(0)) send();
  };
  await using server = await serveRoutes(
    Router().get('/:all', ({ params }, response) => answer(response, Number(params.all))),
  );
  const ask = async (all: number) => {
    const asked = Array.from({ length: all }, async () => {
      const response = await fetch(`${server.url}/${all}`, { headers: { 'accept-encoding': 'gzip' } });
      expect((await response.text()) === text).toBe(true);
      return [response.headers.get('content-encoding'), response.headers.get('etag')];
    });
    return (await Promise.all(asked)).toSorted();
  };
  const [compressed, plain] = [
    ['gzip', '"1.gzip"'],
    [null, '"1"'],
  ];
  expect(await ask(6)).toEqual([plain, plain, plain, compressed, compressed, compressed].toSorted());
  expect(await ask(1)).toEqual([compressed]);
});
