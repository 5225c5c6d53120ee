import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder } from '#shared/folder.ts';

/** The lines of a file, of which the last may be torn; none if the file does not exist. */
export async function* readLines(path: string): AsyncGenerator<string> {
  if ((await sizeOf(path)) === 0) return;
  yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Appends lines, and returns once they and the name of the file are on the disk. */
export const appendLines = async (path: string, lines: readonly string[]): Promise<void> => {
  if (lines.length === 0) return;
  const isNew = (await sizeOf(path)) === 0;
  await using file = await open(path, 'a');
  // A plain `write` may write a part without an error.
  await file.appendFile(lines.map((line) => `${line}\n`).join(''));
  await file.sync();
  if (!isNew) return;
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
};

const TAIL_BYTES = 65_536;

/** Creates the folder if needed, and removes a partial line that a crash left. */
export const mendFile = async (path: string): Promise<void> => {
  await makeFolder(dirname(path));
  const size = await sizeOf(path);
  if (size === 0) return;
  await using file = await open(path, 'r+');
  const from = Math.max(0, size - TAIL_BYTES);
  const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const end = from + buffer.lastIndexOf('\n') + 1;
  // A longer torn line is not ours, and is reported by readers.
  if (end < size && end > from) await file.truncate(end);
  else if (end < size && from === 0) await file.truncate(0);
};

/** A text that differs after any change of the file. */
export const stampOf = async (path: string): Promise<string> => {
  const { size, mtimeMs, ino } = await stat(path).catch(orAbsent);
  return `${size} ${mtimeMs} ${ino}`;
};

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(orAbsent)).size;

const orAbsent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return { size: 0, mtimeMs: 0, ino: 0 };
  throw error;
};
