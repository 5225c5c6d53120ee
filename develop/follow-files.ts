import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { type Digests, digestOfFile } from './digest.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 40;
/** Of an import that was not found yet. */
const SOURCES = new Set(['.ts', '.mts', '.js', '.mjs', '.json']);

type Following = {
  readonly files: readonly string[];
  /** As they were loaded; those of a refused declaration may not have been reached. */
  readonly loaded: Digests;
  /** Every source in their folders, of which one may be missing. */
  readonly all: boolean;
  /** When the loading began. */
  readonly loadedAtMs: number;
};
/** The times of files may be those of the last tick of a clock. */
const TICK_MS = 50;

/**
 * Calls `changed` once the content of followed files has changed, with their paths. Folders are watched rather than
 * files, because editors replace files.
 */
export class FollowedFiles implements Disposable {
  readonly #changed: (paths: readonly string[]) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #files: readonly string[] = [];
  #followsAll = false;
  #digests = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(changed: (paths: readonly string[]) => void) {
    this.#changed = changed;
  }

  /** Follows these files from now on. A file that no longer has the content that was loaded has changed. */
  follow(following: Following): Promise<void> {
    this.#looking = this.#looking.then(() => this.#follow(following));
    return this.#looking;
  }

  async #follow({ files, loaded, all, loadedAtMs }: Following): Promise<void> {
    this.#files = files;
    this.#followsAll = all;
    const folders = new Set(files.map(dirname));
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
    const former = this.#digests;
    this.#digests = await this.#read();
    for (const path of this.#digests.keys()) {
      const known = loaded[path] ?? former.get(path);
      if (known !== undefined) this.#digests.set(path, known);
      else if ((await changedAtMs(path)) > loadedAtMs - TICK_MS) this.#digests.set(path, '');
    }
    this.#noticed();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: true }, () => this.#noticed());
      // The folder was removed.
      watcher.on('error', () => this.#noticed());
      this.#watchers.set(folder, watcher);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #noticed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, QUIET_MS);
  }

  async #look(): Promise<void> {
    const before = this.#digests;
    const now = await this.#read();
    const paths = new Set([...before.keys(), ...now.keys()]);
    const changed = [...paths].filter((path) => before.get(path) !== now.get(path));
    this.#digests = now;
    if (changed.length > 0) this.#changed(changed);
  }

  async #read(): Promise<Map<string, string>> {
    const beside = this.#followsAll
      ? await Promise.all([...new Set(this.#files.map(dirname))].map(sourcesIn))
      : [];
    const digests = await Promise.all(
      [...new Set([...this.#files, ...beside.flat()])].map(
        async (path) => [path, await digestOfFile(path)] as const,
      ),
    );
    return new Map(digests);
  }
}

const sourcesIn = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => SOURCES.has(extname(name))).map((name) => join(folder, name));
};

const changedAtMs = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
