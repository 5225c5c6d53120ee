import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '#shared/folder.ts';
import { EMPTY_ROOT } from '../tree/hashes.ts';
import type { TreeHead } from '../tree/tree-head.ts';

/** The newest head of a log that this witness has cosigned. */
export type KnownHead = Pick<TreeHead, 'size' | 'root'>;

type KnownLog = {
  readonly origin: string;
  /** The keys that sign its heads, as verifiers take them. */
  readonly keys: readonly string[];
  readonly head: KnownHead;
  /** The checkpoint with the cosignatures; null before the first. */
  readonly note: string | null;
};

/** The memory of a witness: a file that survives a crash of the process and of the machine. */
export type WitnessStore = Disposable & {
  find(origin: string): KnownLog | undefined;
  list(): readonly KnownLog[];
  /** The checkpoint of the log whose origin has this SHA-256. */
  noteOf(originHash: string): string | undefined;
  /**
   * Replaces the head if it is still the former one; false if another request was faster. It is on the disk when
   * this returns.
   */
  advance(origin: string, former: KnownHead, next: KnownHead & { readonly note: string }): boolean;
  /** Adds a key, and the log if it is new. */
  addKey(origin: string, key: string, originHash: string): void;
  /** False if the log has no such key. */
  removeKey(origin: string, key: string): boolean;
};

/** Another process may write meanwhile: an operator who adds a log, or a second witness. */
const LOCK_MAX_MS = 5_000;

const TABLES = `
  pragma journal_mode = delete;
  pragma synchronous = extra;
  pragma foreign_keys = on;
  create table if not exists log (
    origin text primary key,
    origin_hash text not null unique,
    size integer not null default 0,
    root blob not null,
    note text
  ) strict;
  create table if not exists key (
    origin text not null references log (origin),
    vkey text not null,
    primary key (origin, vkey)
  ) strict;
`;

type Row = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  readonly note: string | null;
};

export const openWitnessStore = (path: string): WitnessStore => {
  closeSync(openSync(path, 'a', PRIVATE_FILE));
  const database = new DatabaseSync(path, { timeout: LOCK_MAX_MS });
  try {
    database.exec(TABLES);
  } catch (error) {
    database.close();
    throw error;
  }
  const selectLog = database.prepare('select origin, size, root, note from log where origin = ?');
  const selectLogs = database.prepare('select origin, size, root, note from log order by origin');
  const selectKeys = database.prepare('select vkey from key where origin = ? order by vkey');
  const selectNote = database.prepare('select note from log where origin_hash = ?');
  const update = database.prepare(
    'update log set size = ?, root = ?, note = ? where origin = ? and size = ? and root = ?',
  );
  const insertLog = database.prepare(
    'insert into log (origin, origin_hash, root) values (?, ?, ?) on conflict do nothing',
  );
  const insertKey = database.prepare('insert into key (origin, vkey) values (?, ?) on conflict do nothing');
  const deleteKey = database.prepare('delete from key where origin = ? and vkey = ?');
  const toLog = ({ origin, size, root, note }: Row): KnownLog => ({
    origin,
    keys: selectKeys.all(origin).map(({ vkey }) => String(vkey)),
    head: { size, root: Buffer.from(root) },
    note,
  });
  return {
    find(origin) {
      const row = selectLog.get(origin) as Row | undefined;
      return row && toLog(row);
    },
    list: () => (selectLogs.all() as Row[]).map(toLog),
    noteOf: (originHash) => (selectNote.get(originHash) as Pick<Row, 'note'> | undefined)?.note ?? undefined,
    advance: (origin, former, { size, root, note }) =>
      update.run(size, root, note, origin, former.size, former.root).changes === 1,
    addKey(origin, key, originHash) {
      insertLog.run(origin, originHash, EMPTY_ROOT);
      insertKey.run(origin, key);
    },
    removeKey: (origin, key) => deleteKey.run(origin, key).changes === 1,
    [Symbol.dispose]: () => database.close(),
  };
};
