import { once } from 'node:events';
import { relative } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import { type Digests, digestOfFile } from './digest.ts';
import { FollowedFiles } from './follow-files.ts';
import { DevelopedProcess } from './process.ts';

/** Time to stop beyond that of the process itself, which then exits by itself. */
const STOP_MARGIN_MS = 2_000;

type Starting = {
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type Loaded = { readonly files: Digests; readonly loadedAtMs: number };

/** Serves a domain, and follows its files. */
export class Development {
  readonly #config: Config;
  readonly #starting: Starting;
  readonly #files: FollowedFiles;
  readonly #signal: AbortSignal;
  #wake = Promise.withResolvers<void>();
  #changed: readonly string[] = [];
  #next: DevelopedProcess | undefined;
  /** Opens its roles, while another one may still serve. */
  #opening: DevelopedProcess | undefined;
  #served: DevelopedProcess | undefined;
  #wasServed = false;
  #known: readonly string[] = [];
  /** The program as the next process loads it. */
  #program = '';

  constructor(config: Config, starting: Starting, signal: AbortSignal) {
    this.#signal = signal;
    this.#config = config;
    this.#starting = starting;
    this.#files = new FollowedFiles((paths) => {
      this.#changed = [...new Set([...this.#changed, ...paths])];
      this.#wake.resolve();
    });
  }

  async run(): Promise<void> {
    const signal = this.#signal;
    using _files = this.#files;
    const stopped = once(signal, 'abort').then(() => {});
    try {
      await this.#replace([]);
      while (!signal.aborted) {
        await Promise.race([this.#wake.promise, stopped]);
        if (signal.aborted) return;
        this.#wake = Promise.withResolvers();
        const changed = this.#changed;
        this.#changed = [];
        await this.#replace(changed);
      }
    } finally {
      await Promise.all([this.#served, this.#opening, this.#next].map((each) => this.#stop(each)));
    }
  }

  /** Loads the domain in the next process, which then takes the place of the one that serves. */
  async #replace(changed: readonly string[]): Promise<void> {
    const startedAtMs = performance.now();
    // The program is loaded before the domain.
    if (changed.includes(this.#starting.program)) await this.#discardNext();
    const next = await this.#prepared();
    const loadedAtMs = Date.now();
    const loaded = await next.load();
    this.#next = undefined;
    if (this.#signal.aborted) return;
    if (loaded.says === 'ended')
      return this.#refused(
        changed,
        { files: {}, loadedAtMs },
        'Its process ended, or was ended after a minute, before the domain was loaded.',
      );
    const { files } = loaded;
    if (loaded.says === 'refused') return this.#refused(changed, { files, loadedAtMs }, loaded.why);
    await this.#follow({ files, loadedAtMs }, false);
    const isFirst = !this.#wasServed;
    if (!(await this.#takesOver(next, isFirst))) return;
    this.#wasServed = true;
    const tookS = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    say(
      isFirst
        ? 'Files of the domain are watched: save one to serve it.'
        : `${named(changed)} is served, after ${tookS} s.`,
    );
    this.#next = await this.#process();
    void next.ended.then(({ code }) => {
      if (this.#served !== next || this.#signal.aborted) return;
      this.#served = undefined;
      say(`The server has ended (${code}): it starts again once a file changes.`);
    });
  }

  /** The former process serves until all roles are open in the next one. */
  async #takesOver(next: DevelopedProcess, isFirst: boolean): Promise<boolean> {
    this.#opening = next;
    const opened = await next.open(isFirst);
    if (opened.says === 'opened') {
      await this.#stop(this.#served);
      this.#served = next;
    }
    this.#opening = undefined;
    const serving = opened.says === 'opened' ? await next.listen() : opened;
    if (serving.says === 'serving') return true;
    if (this.#served === next) this.#served = undefined;
    await this.#lost(serving.code);
    return false;
  }

  async #refused(changed: readonly string[], loaded: Loaded, why: string): Promise<void> {
    await this.#follow(loaded, true);
    say(`${changed.length === 0 ? 'The domain' : named(changed)} is refused: ${why}`);
    say(
      this.#served === undefined
        ? 'Nothing is served until it is accepted.'
        : 'The former domain is still served.',
    );
    this.#next = await this.#process();
  }

  /** A process that could not start has said why. */
  async #lost(code: number | NodeJS.Signals): Promise<void> {
    if (this.#signal.aborted) return;
    if (!this.#wasServed)
      throw new StartRefused('The domain could not be served.', { exitCode: Number(code) || 1 });
    say(
      this.#served === undefined
        ? `The server could not start (${code}): nothing is served until a file changes.`
        : `The server could not start (${code}): the former domain is still served.`,
    );
    this.#next = await this.#process();
  }

  #follow({ files, loadedAtMs }: Loaded, all: boolean): Promise<void> {
    const { program } = this.#starting;
    // A refused declaration may not have reached all files: they are followed as before.
    this.#known = [...new Set([...(all ? this.#known : []), ...Object.keys(files)])];
    const loaded = { ...files, [program]: this.#program };
    return this.#files.follow({ files: [...this.#known, program], loaded, all, loadedAtMs });
  }

  async #prepared(): Promise<DevelopedProcess> {
    const next = this.#next ?? (await this.#process());
    this.#next = next;
    await next.ready;
    return next;
  }

  async #discardNext(): Promise<void> {
    await this.#stop(this.#next);
    this.#next = undefined;
  }

  async #process(): Promise<DevelopedProcess> {
    this.#program = await digestOfFile(this.#starting.program);
    return new DevelopedProcess({ ...this.#starting, onNote: say });
  }

  async #stop(process: DevelopedProcess | undefined): Promise<void> {
    if (process === this.#served) this.#served = undefined;
    await process?.stop(this.#config.drainMs + STOP_MARGIN_MS);
  }
}

const say = (line: string): void => void process.stderr.write(`  dev: ${line}\n`);

const named = (paths: readonly string[]): string =>
  new Intl.ListFormat('en-GB').format(paths.map((path) => relative('.', path)));
