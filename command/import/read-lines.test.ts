import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { checkLines, readLines } from './read-lines.ts';

const LINE = { key: 'one', at: '2020-01-01T00:00:00Z', command: 'ticket.open', form: { subject: 'Smoke' } };

const test = base.extend('read', async ({ task: _ }, { onCleanup }) => {
  const dataDir = await temporaryDataDir();
  onCleanup(() => dataDir[Symbol.asyncDispose]());
  const file = join(dataDir.path, 'history.ndjson');
  return async (content: string | Buffer) => {
    await writeFile(file, content);
    return Array.fromAsync(readLines(file));
  };
});

test('lines end at newlines alone, and a file may begin with a mark of its encoding', async ({ read }) => {
  const subject = 'One\u2028two\u0085three';
  const second = { ...LINE, key: 'two', form: { subject } };
  const lines = await read(`\ufeff${JSON.stringify(LINE)}\r\n\n${JSON.stringify(second)}\n`);
  expect(lines).toMatchObject([
    { key: 'one', number: 1 },
    { key: 'two', number: 3, form: { subject } },
  ]);
});

test('a line that is longer than a chunk is whole', async ({ read }) => {
  const subject = 'ü'.repeat(200_000);
  const [line] = await read(JSON.stringify({ ...LINE, form: { subject } }));
  expect(line?.form.subject === subject).toBe(true);
});

test.for<readonly [string, string | Buffer, string]>([
  [
    'another encoding',
    Buffer.concat([Buffer.from(`${JSON.stringify(LINE)}\n`), Buffer.from('"M\xfcller"', 'latin1')]),
    'Line 2: it is not UTF-8.',
  ],
  ['a year that is none', JSON.stringify({ ...LINE, at: '0001-01-01T00:30:00+01:00' }), 'years 1 to 9999'],
])('%s is refused in a sentence', async ([, content, sentence], { read }) => {
  await expect(read(content)).rejects.toThrow(sentence);
});

test.for([
  ['/nowhere/history.ndjson', 'There is no file /nowhere/history.ndjson.'],
  ['/dev/null', '/dev/null is no file: write the lines into one.'],
])('%s is refused, because it is no file', async ([path = '', sentence]) => {
  await expect(checkLines(path)).rejects.toThrow(sentence);
});
