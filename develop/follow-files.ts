import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 40;
/** Of an import that was not found yet. */
const SOURCES = new Set(['.ts', '.mts', '.js', '.mjs', '.json']);

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

  /** Follows these files from now on; with `all`, every source in their folders, of which one may be missing. */
  async follow(files: readonly string[], { all }: { readonly all: boolean }): Promise<void> {
    this.#files = files;
    this.#followsAll = all;
    const folders = new Set(files.map(dirname));
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
    this.#digests = await this.#read();
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
        async (path) => [path, await digestOf(path)] as const,
      ),
    );
    return new Map(digests);
  }
}

const sourcesIn = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => SOURCES.has(extname(name))).map((name) => join(folder, name));
};

/** Of a missing file, an empty one. */
const digestOf = async (path: string): Promise<string> => {
  const content = await readFile(path).catch(() => undefined);
  return content === undefined ? '' : createHash('sha256').update(content).digest('base64');
};
