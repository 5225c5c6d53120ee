import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { LogRecord } from './records.ts';

/**
 * An append-only file of JSON lines, one line per atomic change; pending lines are written and synced
 * together.
 */
export type Journal = {
  write(records: readonly LogRecord[], onDurable: () => void): void;
  /** Resolves when everything written so far is on disk. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export type OpenedJournal = {
  readonly journal: Journal;
  readonly changes: readonly (readonly LogRecord[])[];
};

export const openJournal = async (path: string): Promise<OpenedJournal> => {
  const file = await open(path, 'a+');
  const { changes, wholeBytes } = readChanges(await file.readFile());
  // A line torn by a crash was never acknowledged; the next one must not be joined to it.
  await file.truncate(wholeBytes);
  return { journal: journalIn(file), changes };
};

const journalIn = (file: FileHandle): Journal => {
  let waiting = newBatch();
  let flushing: Batch | undefined;
  const flush = async () => {
    while (waiting.lines.length > 0) {
      flushing = waiting;
      waiting = newBatch();
      await file.appendFile(flushing.lines.join(''));
      await file.datasync();
      for (const onDurable of flushing.onDurable) onDurable();
      flushing.done.resolve();
    }
    flushing = undefined;
  };
  const settled = () => (waiting.lines.length > 0 ? waiting : flushing)?.done.promise ?? Promise.resolve();
  return {
    write(records, onDurable) {
      waiting.lines.push(`${JSON.stringify(records.map(written))}\n`);
      waiting.onDurable.push(onDurable);
      // A journal that cannot be written must stop the process: the rejection is deliberately left unhandled.
      if (!flushing) void flush();
    },
    settled,
    async close() {
      await settled();
      await file.close();
    },
  };
};

/** As slow as a disk, and forgotten with the process: each change is durable after that time. */
export const slowJournal = (afterMs: number): Journal => {
  let last = Promise.resolve();
  return {
    write(_records, onDurable) {
      last = wait(afterMs).then(onDurable);
    },
    settled: () => last,
    close: () => last,
  };
};

type Batch = {
  readonly lines: string[];
  readonly onDurable: (() => void)[];
  readonly done: PromiseWithResolvers<void>;
};

const newBatch = (): Batch => ({ lines: [], onDurable: [], done: Promise.withResolvers<void>() });

type WrittenRecord = Omit<LogRecord, 'revision' | 'data' | 'metadata'> & {
  readonly revision: string;
  readonly data: string;
  readonly metadata: string;
};

const written = (record: LogRecord): WrittenRecord => ({
  ...record,
  revision: `${record.revision}`,
  data: Buffer.from(record.data).toString('base64'),
  metadata: Buffer.from(record.metadata).toString('base64'),
});

const recorded = (record: WrittenRecord): LogRecord => ({
  ...record,
  revision: BigInt(record.revision),
  data: Buffer.from(record.data, 'base64'),
  metadata: Buffer.from(record.metadata, 'base64'),
});

const NEWLINE = 0x0a;

const readChanges = (bytes: Buffer): { changes: LogRecord[][]; wholeBytes: number } => {
  const changes: LogRecord[][] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    const records: WrittenRecord[] = JSON.parse(bytes.toString('utf8', start, end));
    changes.push(records.map(recorded));
    start = end + 1;
  }
  return { changes, wholeBytes: start };
};
