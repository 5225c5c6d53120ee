import { once } from 'node:events';
import { join, relative } from 'node:path';
import { demandFreePorts } from '#edge/http/listen.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import { openDatabase } from '#process/engines/open-database.ts';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import { FollowedFiles } from './follow-files.ts';
import { DevelopedProcess } from './process.ts';
import { DEVELOPED } from './protocol.ts';

/** Time to stop beyond that of the process itself, which then exits by itself. */
const STOP_MARGIN_MS = 2_000;

/**
 * `npm run dev`: serves the domain, and serves it again as soon as one of its files changes. PostgreSQL runs on
 * meanwhile. A declaration that is refused changes nothing: the former one is still served.
 */
export const develop = async (program: string, args: readonly string[]): Promise<void> => {
  if (args.length > 0)
    throw new StartRefused(
      `There is no argument ${args[0]} of dev: environment variables configure it, as in PORT=4001 npm run dev.`,
    );
  if (process.env.NODE_ENV === 'production')
    throw new StartRefused('dev does not run in production: use npm start, or unset NODE_ENV.');
  const config = loadConfig();
  await demandFreePorts([
    { ...config.http, setting: 'PORT' },
    { ...config.metrics, setting: 'METRICS_PORT' },
  ]);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  const log = createLog({ level: config.logLevel });
  await using database = await openDatabase(config, { log, signal: stopping.signal });
  const environment = {
    NODE_COMPILE_CACHE: join('node_modules', '.cache', 'node'),
    ...process.env,
    ...{ [DEVELOPED]: '1', DATABASE_URL: database.url, WORKERS: '1' },
  };
  await new Development(config, { program, environment }, stopping.signal).run();
};

type Starting = {
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

class Development {
  readonly #config: Config;
  readonly #starting: Starting;
  readonly #files: FollowedFiles;
  readonly #signal: AbortSignal;
  #wake = Promise.withResolvers<void>();
  #changed: readonly string[] = [];
  #next: DevelopedProcess | undefined;
  #served: DevelopedProcess | undefined;
  #wasServed = false;
  #known: readonly string[] = [];

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
      await Promise.all([this.#stop(this.#served), this.#stop(this.#next)]);
    }
  }

  /** Loads the domain in the next process, which then takes the place of the one that serves. */
  async #replace(changed: readonly string[]): Promise<void> {
    const startedAtMs = performance.now();
    // The program is loaded before the domain.
    if (changed.includes(this.#starting.program)) await this.#discardNext();
    const next = await this.#prepared();
    const loaded = await next.load();
    this.#next = undefined;
    if (this.#signal.aborted) return;
    if (loaded.says === 'ended')
      return this.#refused(
        changed,
        [],
        'Its process ended, or was ended after a minute, before the domain was loaded.',
      );
    if (loaded.says === 'refused') return this.#refused(changed, loaded.files, loaded.why);
    await this.#follow(loaded.files, false);
    await this.#stop(this.#served);
    this.#served = next;
    const isFirst = !this.#wasServed;
    const serving = await next.serve(isFirst);
    if (serving.says === 'ended') return this.#lost(serving.code);
    this.#wasServed = true;
    const tookS = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    say(
      isFirst
        ? 'Files of the domain are watched: save one to serve it.'
        : `${named(changed)} is served, after ${tookS} s.`,
    );
    this.#next = this.#process();
    void next.ended.then(({ code }) => {
      if (this.#served !== next || this.#signal.aborted) return;
      this.#served = undefined;
      say(`The server has ended (${code}): it starts again once a file changes.`);
    });
  }

  async #refused(changed: readonly string[], files: readonly string[], why: string): Promise<void> {
    await this.#follow(files, true);
    say(`${changed.length === 0 ? 'The domain' : named(changed)} is refused: ${why}`);
    say(
      this.#served === undefined
        ? 'Nothing is served until it is accepted.'
        : 'The former domain is still served.',
    );
    this.#next = this.#process();
  }

  /** A process that could not start has said why. */
  async #lost(code: number | NodeJS.Signals): Promise<void> {
    this.#served = undefined;
    if (this.#signal.aborted) return;
    if (!this.#wasServed)
      throw new StartRefused('The domain could not be served.', { exitCode: Number(code) || 1 });
    say(`The server could not start (${code}): nothing is served until a file changes.`);
    this.#next = this.#process();
  }

  #follow(files: readonly string[], all: boolean): Promise<void> {
    // A refused declaration may not have reached all files: they are followed as before.
    this.#known = all ? [...new Set([...this.#known, ...files])] : files;
    return this.#files.follow([...this.#known, this.#starting.program], { all });
  }

  async #prepared(): Promise<DevelopedProcess> {
    const next = this.#next ?? this.#process();
    this.#next = next;
    await next.ready;
    return next;
  }

  async #discardNext(): Promise<void> {
    await this.#stop(this.#next);
    this.#next = undefined;
  }

  #process(): DevelopedProcess {
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
