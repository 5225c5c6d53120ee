import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callWithLittleRoom } from '../../test/engines/little-room.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annals-lines-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a partial write to the disk fails', async () => {
  const module = new URL('./line-file.ts', import.meta.url);
  const call = `appendLines(${JSON.stringify(join(folder, 'lines'))}, ['x'.repeat(100_000)])`;
  expect(await callWithLittleRoom(module, `({ appendLines }) => ${call}`)).toBe('EFBIG');
});
