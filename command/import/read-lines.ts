import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type ImportLine, lineOf, refusedLine } from './line.ts';

/** Reads a file of lines, which may be larger than the memory. Empty lines are passed over. */
export async function* readLines(path: string): AsyncGenerator<ImportLine> {
  for await (const read of readUnchecked(path)) {
    const line = read();
    if (line !== undefined) yield line;
  }
}

/** The same, with a function for each line that throws if it has a fault; undefined for an empty line. */
export async function* readUnchecked(path: string): AsyncGenerator<() => ImportLine | undefined> {
  let number = 0;
  for await (const bytes of linesOf(path)) {
    number += 1;
    const at = number;
    yield () => {
      const text = textOf(bytes, at);
      return text.trim() === '' ? undefined : lineOf(text, at);
    };
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
  const demandNext = createDemandNext();
  let count = 0;
  for await (const line of readLines(path)) {
    demandNext(line);
    count += 1;
  }
  return count;
};

/** Throws unless the key of a line is new, and its time not before that of the line above. */
export const createDemandNext = (): ((line: ImportLine) => void) => {
  const keys = new Set<string>();
  let before = '';
  return (line) => {
    const [isNew, isLater] = [!keys.has(line.key), line.at >= before];
    keys.add(line.key);
    before = line.at;
    if (!isNew) throw refusedLine(line, 'an earlier line has this key');
    if (!isLater) throw refusedLine(line, `its time is before that of the line above: sort them by time`);
  };
};

/** An import reads its file several times, so a pipe does not do. */
export const demandFile = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new StartRefused(`There is no file ${path}.`);
  if (!found.isFile()) throw new StartRefused(`${path} is no file: write the lines into one.`);
};
