import { open, readFile, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import { makeFolder } from '#shared/folder.ts';
import type { Log } from '#shared/log.ts';
import type { LogServer, Seen } from './event-log.ts';

/**
 * The newest event of the log that a process has seen, outside of the database: a process that remembers
 * nothing can check with it that the log has not lost its end. A note never goes back. Several processes
 * may write it.
 */
export type NewestNote = Seen & {
  readonly v: 1;
  readonly log: LogIdentity;
  /** The server that had the event; null if the engine has none that can be told apart. */
  readonly server: LogServer | null;
  /** The event is the end of the log: the process that wrote it has stopped, and none has started since. */
  readonly isFinal: boolean;
  readonly at: string;
};

export type NoteFile = {
  readonly path: string;
  /** Undefined if there is none, or if it was damaged. */
  read(): Promise<NewestNote | undefined>;
  write(note: NewestNote): Promise<void>;
};

const note = z.object({
  v: z.literal(1),
  log: z.guid(),
  position,
  id: z.uuid(),
  server: z.object({ system: z.string(), timeline: z.int() }).nullable(),
  isFinal: z.boolean(),
  at: timestamp,
}) as unknown as z.ZodType<NewestNote>;

/** Each log has a note of its own: after `log renew`, the former one shows what was lost. */
export const noteFileIn = (auditDir: string, identity: LogIdentity): NoteFile => {
  const path = join(auditDir, `newest-${identity.slice(0, 8)}.json`);
  return {
    path,
    async read() {
      const found = parse(await readFile(path, 'utf8').catch(orAbsent));
      return found?.log === identity ? found : undefined;
    },
    async write(written) {
      await makeFolder(dirname(path));
      // Processes on other machines may share the folder.
      const fresh = `${path}.${hostname()}-${process.pid}`;
      {
        await using file = await open(fresh, 'w');
        await file.writeFile(`${JSON.stringify(written)}\n`);
        await file.sync();
      }
      await rename(fresh, path);
    },
  };
};

const parse = (text: string): NewestNote | undefined => {
  try {
    return note.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

const orAbsent = (error: NodeJS.ErrnoException): string => {
  if (error.code === 'ENOENT') return '';
  throw error;
};

export type NewestKept = {
  /** The note, if it names a later event than `seen`. */
  ahead(seen: Seen | undefined): Promise<Seen | undefined>;
  /** Writes the note if it differs. A failure is logged once, until it succeeds again. */
  keep(seen: Seen, server: LogServer | undefined, options?: { readonly isFinal: boolean }): Promise<void>;
};

type Keeping = {
  readonly file: NoteFile;
  readonly identity: LogIdentity;
  readonly nowMs: () => number;
  readonly log: Pick<Log, 'warn'>;
};

/** Keeps the note of a running process. */
export const keepNewest = ({ file, identity, nowMs, log }: Keeping): NewestKept => {
  let hasFailed = false;
  const orWarn = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      hasFailed = false;
    } catch (err) {
      if (!hasFailed) log.warn({ err }, `The newest event of the log cannot be noted in ${file.path}.`);
      hasFailed = true;
    }
  };
  return {
    async ahead(seen) {
      const known = await file.read().catch(() => undefined);
      return known && known.position > (seen?.position ?? 0) ? known : undefined;
    },
    keep: (seen, server, { isFinal } = { isFinal: false }) =>
      orWarn(async () => {
        const known = await file.read();
        if (known && known.position > seen.position) return;
        const next = { position: seen.position, id: seen.id, server: server ?? null, isFinal };
        if (known && isSame(known, next)) return;
        await file.write({ v: 1, log: identity, ...next, at: new Date(nowMs()).toISOString() });
      }),
  };
};

type Noted = Pick<NewestNote, 'position' | 'id' | 'server' | 'isFinal'>;

const isSame = (one: Noted, other: Noted): boolean =>
  one.position === other.position &&
  one.id === other.id &&
  one.isFinal === other.isFinal &&
  isSameServer(one.server, other.server);

export const isSameServer = (one: LogServer | null, other: LogServer | null): boolean =>
  one?.system === other?.system && one?.timeline === other?.timeline;
