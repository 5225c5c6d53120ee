import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryStore, type TokenStore } from './token-store.ts';

/** Only their owner may read the tokens. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * A file for the tokens of a command-line program, such as `~/.config/expenses/session.json`. It is replaced as a whole, so
 * that it is never half written. Processes take turns by a second file, `….lock`.
 */
export const tokenFile = (path: string): TokenStore => {
  // Calls of one process take turns here already.
  const turns = memoryStore();
  return {
    update: (change) =>
      turns.update(async () => {
        await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
        await using _lock = await lock(`${path}.lock`);
        const kept = await readText(path);
        const text = await change(kept);
        if (text === undefined) await rm(path, { force: true });
        else if (text !== kept) await replace(path, text);
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

const replace = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeNew(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};

const writeNew = async (path: string, text: string): Promise<void> => {
  await using file = await open(path, 'wx', FILE_MODE);
  await file.writeFile(text);
  await file.sync();
};

const LIVES_EVERY_MS = 1_000;
/** An owner that has not said so long that it lives was killed. */
const SILENCE_MAX_MS = 15_000;
const LOOK_EVERY_MS = 100;
/** Ten minutes: a refresh takes a minute at most. */
const LOOKS_MAX = 6_000;

/** A file that exists once is the lock. Its owner touches it again and again, so that others can tell when the owner was killed. */
const lock = async (path: string): Promise<AsyncDisposable> => {
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
    // Counted by our own looks: a machine that slept has killed nobody.
    silentMs = state === seen ? silentMs + LOOK_EVERY_MS : 0;
    seen = state;
    if (state !== undefined && silentMs >= SILENCE_MAX_MS) await breakLock(path, state);
    else if (looks >= LOOKS_MAX) throw new Error(`another process does not let go of ${path}`);
    else await pause(LOOK_EVERY_MS);
  }
  const living = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), LIVES_EVERY_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(living);
      if ((await readText(path)) === name) await rm(path, { force: true });
    },
  };
};

/** Who owns the lock, and when it last said that it lives. */
const stateOf = async (path: string): Promise<string | undefined> => {
  try {
    return `${await readFile(path, 'utf8')} ${(await stat(path)).mtimeMs}`;
  } catch {
    return undefined;
  }
};

/** One process alone does it, so that none removes the lock that another has taken since. */
const breakLock = async (path: string, state: string): Promise<void> => {
  await using _breaking = await lock(`${path}.break`);
  if ((await stateOf(path)) === state) await rm(path, { force: true });
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
