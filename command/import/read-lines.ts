import { open } from 'node:fs/promises';
import { type ImportLine, lineOf, refusedLine } from './line.ts';

/** Reads a file of lines once: it may be larger than the memory. Empty lines are passed over. */
export async function* readLines(path: string): AsyncGenerator<ImportLine> {
  await using file = await open(path);
  let number = 0;
  for await (const text of file.readLines({ autoClose: false })) {
    number += 1;
    if (text.trim() !== '') yield lineOf(text, number);
  }
}

/** Checks the form of all lines before anything is imported; the last of the known ones, or 0. */
export const checkLines = async (
  path: string,
  isKnown: (key: string) => boolean,
): Promise<{ readonly count: number; readonly lastKnown: number }> => {
  const keys = new Set<string>();
  let [lastKnown, before] = [0, ''];
  for await (const line of readLines(path)) {
    if (keys.has(line.key)) throw refusedLine(line, 'an earlier line has this key');
    keys.add(line.key);
    if (line.at < before)
      throw refusedLine(line, `its time is before that of the line above: sort them by time`);
    before = line.at;
    if (isKnown(line.key)) lastKnown = line.number;
  }
  return { count: keys.size, lastKnown };
};
