import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type ImportLine, lineOf, refusedLine } from './line.ts';

/** Reads a file of lines, which may be larger than the memory. Empty lines are passed over. */
export async function* readLines(path: string): AsyncGenerator<ImportLine> {
  let number = 0;
  for await (const bytes of linesOf(path)) {
    number += 1;
    const text = textOf(bytes, number);
    if (text.trim() !== '') yield lineOf(text, number);
  }
}

const NEWLINE = 10;

/** Only a newline ends a line: a text in JSON may have other separators. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, from)) {
      yield rest.subarray(from, end);
      from = end + 1;
    }
    rest = rest.subarray(from);
  }
  yield rest;
}

/** Without the mark with which some programs begin a file in UTF-8. */
const textOf = (bytes: Buffer, number: number): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusedLine({ number }, 'it is not UTF-8');
  }
};

/** Checks the form of all lines before anything is imported. Returns how many there are. */
export const checkLines = async (path: string): Promise<number> => {
  await demandFile(path);
  const keys = new Set<string>();
  let before = '';
  for await (const line of readLines(path)) {
    if (keys.has(line.key)) throw refusedLine(line, 'an earlier line has this key');
    keys.add(line.key);
    if (line.at < before)
      throw refusedLine(line, `its time is before that of the line above: sort them by time`);
    before = line.at;
  }
  return keys.size;
};

/** It is read twice. */
const demandFile = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new StartRefused(`There is no file ${path}.`);
  if (!found.isFile()) throw new StartRefused(`${path} is no file: write the lines into one.`);
};
