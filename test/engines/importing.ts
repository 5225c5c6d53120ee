import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { importHistory, rehearseHistory } from '../../command/import/import-history.ts';
import type { CommandSide } from './command-side.ts';
import { temporaryDataDir } from './data-dir.ts';

type Lines = readonly (object | string)[];

/** Imports lines on a command side, or rehearses it. */
export const startImporting = async (side: CommandSide) => {
  const dataDir = await temporaryDataDir();
  const file = join(dataDir.path, 'history.ndjson');
  const write = (lines: Lines) =>
    writeFile(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  const dependencies = { ...side, log: pino({ level: 'silent' }), clock: REAL_TIME };
  return {
    folder: dataDir.path,
    async importing(lines: Lines, signal = new AbortController().signal) {
      await write(lines);
      return importHistory({ ...dependencies, signal }, file);
    },
    /** Returns the sentences about wrong lines, too. */
    async rehearsing(lines: Lines) {
      await write(lines);
      const sentences: string[] = [];
      const report = async (sentence: string) => void sentences.push(sentence);
      const { signal } = new AbortController();
      return { ...(await rehearseHistory({ ...dependencies, signal, report }, file)), sentences };
    },
    [Symbol.asyncDispose]: () => dataDir[Symbol.asyncDispose](),
  };
};
