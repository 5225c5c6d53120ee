import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryStore, type TokenStore } from './token-store.ts';

/** On POSIX systems, only the owner may read the tokens. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * A file for the tokens of a command-line program, such as `~/.config/expenses/session.json`. A change
 * replaces the whole file, so that it is never half written. A second file, `….lock`, is the lock of the
 * process that changes it.
 */
export const tokenFile = (path: string): TokenStore => lockedFile(path, TIMES);

/** The same for a test, whose locks expire sooner. */
export const lockedFile = (path: string, times: LockTimes): TokenStore => {
  // Calls within one process queue here first.
  const queue = memoryStore();
  return {
    update: (change) =>
      queue.update(async () => {
        await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
        await using held = await lock(`${path}.lock`, times);
        const kept = await readText(path);
        const text = await change(kept);
        await held.check();
        await rm(draftOf(path), { force: true });
        if (text === undefined) await rm(path, { force: true });
        else if (text !== kept) await replace(path, text, held);
        return undefined;
      }),
  };
};

const readText = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** A fixed name, so that the next change removes the draft of a process killed before the rename. */
const draftOf = (path: string): string => `${path}.new`;

const replace = async (path: string, text: string, held: Lock): Promise<void> => {
  await writeNew(draftOf(path), text);
  await held.check();
  await rename(draftOf(path), path);
};

const writeNew = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, 'wx', FILE_MODE);
  await file.writeFile(text);
  await file.sync();
};

type LockTimes = {
  readonly livesEveryMs: number;
  /** A lock without a heartbeat for so long belongs to a killed process. */
  readonly silenceMaxMs: number;
  readonly lookEveryMs: number;
};

const TIMES: LockTimes = { livesEveryMs: 1_000, silenceMaxMs: 15_000, lookEveryMs: 100 };
/** Ten minutes: a refresh takes a minute at most. */
const LOOKS_MAX = 6_000;

type Lock = AsyncDisposable & {
  /** Throws if another process has broken the lock, and may have stored newer tokens. */
  check(): Promise<void>;
};

/**
 * Takes a lock by creating a file exclusively. The owner touches it regularly, so that others notice when the
 * owner was killed.
 */
const lock = async (path: string, times: LockTimes): Promise<Lock> => {
  const { livesEveryMs, silenceMaxMs, lookEveryMs } = times;
  const name = randomUUID();
  let seen: string | undefined;
  let silentMs = 0;
  for (let looks = 0; ; looks++) {
    try {
      await writeNew(path, name);
      break;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const state = await stateOf(path);
    // Counted in our own polls: a machine that slept has killed no process.
    silentMs = state === seen ? silentMs + lookEveryMs : 0;
    seen = state;
    if (state !== undefined && silentMs >= silenceMaxMs) await breakLock(path, state, times);
    else if (looks >= LOOKS_MAX) throw new Error(`another process does not release ${path}`);
    else await pause(lookEveryMs);
  }
  const living = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), livesEveryMs);
  const isHeld = async () => (await readText(path)) === name;
  return {
    async check() {
      if (!(await isHeld()))
        throw new Error(`another process took over the lock ${path} while this one was suspended`);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(living);
      if (await isHeld()) await rm(path, { force: true });
    },
  };
};

/** The owner of the lock and its last heartbeat. */
const stateOf = async (path: string): Promise<string | undefined> => {
  try {
    return `${await readFile(path, 'utf8')} ${(await stat(path)).mtimeMs}`;
  } catch {
    return undefined;
  }
};

/** Only one process breaks a lock at a time, so that none removes a lock that another has taken since. */
const breakLock = async (path: string, state: string, times: LockTimes): Promise<void> => {
  await using _breaking = await lock(`${path}.break`, times);
  if ((await stateOf(path)) === state) await rm(path, { force: true });
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
