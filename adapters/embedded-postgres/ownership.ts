// Over 200 lines, because it is one class: the process that owns a data folder and its server.
import type { ChildProcess } from 'node:child_process';
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Binaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { DataDirInUse, DiskFull, EmbeddedPostgresFailed } from './errors.ts';
import { freePort } from './free-port.ts';
import { tryOwnerLock } from './owner-lock.ts';
import { readPostmaster, removeStalePidFile, shutDownFast, stopPostmaster } from './postmaster.ts';
import { spawnServer } from './programs.ts';

/** Recovery after a crash replays up to `max_wal_size`, which can take a minute on a slow disk. */
const START_TIMEOUT_MS = 120_000;
/** A server notices only after a moment that a killed owner’s connection is gone. */
const LOCK_TIMEOUT_MS = 1_000;
const POLL_MS = 20;
/**
 * A taken port, or a backend that outlives a killed server for a moment, makes a start fail that succeeds a
 * little later.
 */
const SPAWNS_MAX = 6;
const RESPAWN_DELAY_MS = 50;
const LOG_TAIL_LINES = 3;
/** Between two attempts to restart the server. */
const RETAKE_PAUSE_MS = 500;
const RETAKE_PAUSE_MAX_MS = 10_000;
/** A recovery needs room for one more file of the write-ahead log. */
const ROOM_MIN_BYTES = 16 * 1_048_576;

/** Logged as information unless a level is given. */
export type EmbeddedLog = (message: string, level?: 'info' | 'error') => void;

type OwnershipOptions = {
  readonly dataDir: string;
  readonly cluster: Cluster;
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: EmbeddedLog;
};

type Held = {
  readonly lock: pg.Client;
  readonly port: number;
  readonly pid: number;
  readonly adopted: boolean;
};

/** Owns a cluster: holds its lock, restarts its server if it dies, and stops it at the end. */
export class Ownership implements AsyncDisposable {
  readonly port: number;
  readonly adopted: boolean;
  readonly #options: OwnershipOptions;
  readonly #stopping = new AbortController();
  /** Undefined once another owner has taken the cluster, whose server is then not ours to stop. */
  #lock: pg.Client | undefined;
  #retaking: Promise<void> = Promise.resolve();
  #trouble: string | undefined;
  #stopped: Promise<void> | undefined;

  /** Its server, which is ours as long as we hold its lock. */
  #pid: number;

  private constructor(options: OwnershipOptions, { lock, port, pid, adopted }: Held) {
    this.#options = options;
    this.port = port;
    this.adopted = adopted;
    this.#pid = pid;
    process.on('exit', this.#onExit);
    this.#keep(lock);
  }

  static async take(options: OwnershipOptions): Promise<Ownership> {
    return new Ownership(options, await take(options));
  }

  /** The reason why the server cannot run now, for public display. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#retaking;
    if (this.#lock !== undefined) {
      await stopPostmaster(this.#options.cluster.pgdata);
      await this.#lock.end().catch(() => {});
    }
    process.off('exit', this.#onExit);
  }

  /** A stop that takes too long is cut off, and the server is in a session of its own. */
  readonly #onExit = (): void => {
    if (this.#lock !== undefined) shutDownFast(this.#pid);
  };

  #keep(lock: pg.Client): void {
    this.#lock = lock;
    lock.once('end', () => {
      if (this.#stopping.signal.aborted) return;
      this.#lock = undefined;
      this.#retaking = this.#retake();
    });
  }

  /**
   * The server has crashed or was stopped by someone. Restarts it at the same port for its clients, however
   * long that takes.
   */
  async #retake(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#stopping;
    log('The connection to the embedded PostgreSQL was lost; checking the server.');
    for (
      let pauseMs = RETAKE_PAUSE_MS;
      !signal.aborted;
      pauseMs = Math.min(2 * pauseMs, RETAKE_PAUSE_MAX_MS)
    ) {
      try {
        const { lock, pid } = await take(this.#options, this.port, signal);
        this.#pid = pid;
        this.#trouble = undefined;
        this.#keep(lock);
        log('The embedded PostgreSQL is back.');
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#trouble =
          error instanceof DiskFull
            ? 'The disk of the database is full.'
            : 'The embedded database does not start.';
        log(`The embedded PostgreSQL is not back yet; retrying: ${(error as Error).message}`, 'error');
        await delay(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** Finds or starts the server, and retries until it holds its lock. */
const take = async (options: OwnershipOptions, port?: number, signal?: AbortSignal): Promise<Held> => {
  const { cluster, dataDir } = options;
  const deadline = performance.now() + START_TIMEOUT_MS;
  let timeoutAtMs: number | undefined;
  let child: ChildProcess | undefined;
  for (let spawns = 0; performance.now() < deadline; ) {
    signal?.throwIfAborted();
    const postmaster = await readPostmaster(cluster.pgdata);
    if (postmaster === undefined && hasExited(child)) {
      if (spawns === SPAWNS_MAX) throw await failure(options);
      child = await spawn(options, port ?? (await freePort()), spawns);
      spawns += 1;
    }
    const attempt = postmaster?.ready === true ? await tryOwnerLock(cluster, postmaster.port) : undefined;
    if (postmaster !== undefined && attempt instanceof pg.Client) {
      const { pid } = postmaster;
      return { lock: attempt, port: postmaster.port, pid, adopted: child?.pid !== pid };
    }
    if (attempt !== undefined && 'heldBy' in attempt) {
      timeoutAtMs ??= performance.now() + LOCK_TIMEOUT_MS;
      if (performance.now() >= timeoutAtMs) throw new DataDirInUse(dataDir, attempt.heldBy);
    }
    await delay(POLL_MS);
  }
  if (!hasExited(child)) await stopPostmaster(cluster.pgdata);
  throw await failure(options);
};

const hasExited = (child: ChildProcess | undefined): boolean =>
  child === undefined || child.exitCode !== null || child.signalCode !== null;

const spawn = async (
  { dataDir, cluster, binaries, settings }: OwnershipOptions,
  port: number,
  spawns: number,
): Promise<ChildProcess> => {
  if (spawns > 0) {
    await delay(RESPAWN_DELAY_MS * 2 ** spawns);
    await removeStalePidFile(cluster.pgdata);
  }
  return spawnServer({
    program: binaries.postgres,
    args: serverArguments(cluster.pgdata, port, settings),
    user: binaries.user,
    logPath: logPath(dataDir),
  });
};

const logPath = (dataDir: string): string => join(dataDir, 'postgres.log');

const failure = async ({ dataDir, cluster }: OwnershipOptions): Promise<EmbeddedPostgresFailed> => {
  const text = await readFile(logPath(dataDir), 'utf8').catch(() => '');
  const tail = text.trim().split('\n').slice(-LOG_TAIL_LINES).join(' | ');
  const disk = await statfs(cluster.pgdata).catch(() => undefined);
  if (disk !== undefined && disk.bavail * disk.bsize < ROOM_MIN_BYTES) return new DiskFull(cluster.pgdata);
  return new EmbeddedPostgresFailed(
    `The embedded PostgreSQL does not start; see ${logPath(dataDir)}: ${tail}`,
  );
};

/** Durable, reachable from this machine only, and sized for a small one. */
const DEFAULTS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/** The command line of the server. */
const serverArguments = (
  pgdata: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): string[] => [
  '-D',
  pgdata,
  '-p',
  String(port),
  ...Object.entries({ ...DEFAULTS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];
