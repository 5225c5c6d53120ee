import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compressAs, preferredCoding, THOROUGH } from './content-coding.ts';

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

test('what is compressed is what it was', async () => {
  const bytes = Buffer.from('what it was '.repeat(1_000));
  const decoded = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
  for (const coding of ['zstd', 'br', 'gzip'] as const)
    for (const levels of [undefined, THOROUGH]) {
      const compressed = await compressAs(coding, bytes, levels);
      expect(compressed.length).toBeLessThan(bytes.length / 10);
      expect(decoded[coding](compressed).equals(bytes)).toBe(true);
    }
});
