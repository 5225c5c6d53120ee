import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Scan } from '#kernel/base/scan.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { setupFailure } from '#shared/database/failures.ts';
import { fileFailure } from '#shared/folder.ts';
import type { Log } from '#shared/log.ts';
import type { Config } from './config.ts';
import { loadConfig } from './load-config.ts';
import { createLog } from './observability/log.ts';
import type { OwnRoutes } from './own-routes.ts';
import type { Part } from './part.ts';
import { signUpRoleOf } from './sign-up-role.ts';
import { answerStartArguments, type StartArguments } from './start-arguments.ts';
import type { WorkerLink } from './workers/link.ts';
import { WORKER_NAME } from './workers/protocol.ts';

export type ProcessContext = {
  readonly config: Config;
  readonly log: Log;
  /** The domain that this process serves. */
  readonly domain: Domain;
  /** The parts that the installation opts into. */
  readonly parts: readonly Part[];
  readonly routes?: OwnRoutes | undefined;
  /** Checks each new file, if the installation has a scanner. */
  readonly scan?: Scan | undefined;
  /** The time of all roles; tests and demos move it. */
  readonly clock: Clock;
  /** Disposed in reverse order when the process receives a stop signal. */
  readonly resources: AsyncDisposableStack;
  /** Aborts when the process receives a stop signal, even during its start. */
  readonly signal: AbortSignal;
  /** If it is one of several processes of an installation. */
  readonly worker?: WorkerLink | undefined;
  /** Resolves once another process has left the ports, which this one then takes. */
  readonly beforeListening?: () => Promise<void>;
  /** From now on, `SIGHUP` calls this, and does not stop the process. */
  readonly onHangUp?: (work: () => void) => void;
};

type RunOptions = Pick<ProcessContext, 'domain' | 'parts' | 'routes' | 'scan'> & Partial<StartArguments>;
type Start = (context: ProcessContext) => Promise<void>;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const FAILED = 1;
/** Ctrl+C under npm arrives twice, from the terminal and from npm: only a later signal is a second one. */
const SAME_SIGNAL_MS = 300;

/** Loaded only where there are several processes. */
const linkOfWorker = async (): Promise<WorkerLink | undefined> =>
  process.env[WORKER_NAME] === undefined ? undefined : (await import('./workers/link.ts')).openWorkerLink();

/**
 * V8 lets the heap of a server grow to nearly four times of what is in use before it looks for garbage. With
 * twice of it, a process needs two thirds of the memory, for some of its processor time.
 */
const boundGarbage = (): void => setFlagsFromString('--heap-growing-percent=100');

/**
 * The life of a process: settings, start, work until a signal, orderly stop, exit 0. A second signal exits at
 * once, a stop that takes longer than `DRAIN_MS` is cut off, and an unexpected failure is logged and exits 1.
 */
export const run = async (
  start: Start,
  { domain, parts, routes, scan, ...given }: RunOptions,
): Promise<never> => {
  try {
    const answer = answerStartArguments({ program: process.argv[1] ?? '', args: [], ...given });
    if (answer !== undefined) {
      process.stdout.write(`${answer}\n`);
      process.exit(0);
    }
    boundGarbage();
    await noteRunning();
    const config = loadConfig();
    signUpRoleOf(domain, config.signUp);
    const worker = await linkOfWorker();
    const log = createLog({ level: config.logLevel, worker: worker?.name });
    process.exit(await live(start, { config, log, domain, parts, routes, scan, clock: REAL_TIME, worker }));
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
};

/** Only a clone of the repository has this script; it is plain JavaScript, which its installation shares. */
const noteRunning = async (): Promise<void> => {
  const script = new URL('../scripts/note-running.mjs', import.meta.url);
  if (existsSync(script)) await import(script.href);
};

const live = async (
  start: Start,
  given: Pick<ProcessContext, 'config' | 'log' | 'domain' | 'parts' | 'routes' | 'scan' | 'clock' | 'worker'>,
): Promise<number> => {
  const { config, log, worker } = given;
  const stopSignal = new AbortController();
  const { stopping, onHangUp } = watchForStop(log, config.drainMs, {
    stopSignal,
    isWorker: worker !== undefined,
  });
  await using resources = new AsyncDisposableStack();
  try {
    await start({ ...given, resources, signal: stopSignal.signal, onHangUp });
  } catch (error) {
    if (error instanceof StartRefused) throw error;
    const failure = fileFailure(error) ?? setupFailure(error);
    if (failure !== undefined) throw new StartRefused(`Annals cannot start: ${failure}`, { cause: error });
    log.fatal({ err: error }, 'The process could not start.');
    return FAILED;
  }
  // By itself, Node writes its compile cache only at an orderly exit: a killed process would leave none.
  flushCompileCache();
  // A signal during the start takes effect once everything that was started can be stopped.
  return await stopping;
};

type Watching = { readonly stopSignal: AbortController; readonly isWorker: boolean };
type Watched = { readonly stopping: Promise<number> } & Required<Pick<ProcessContext, 'onHangUp'>>;

/** Resolves to the exit code once there is a reason to stop. From then on the process has `drainMs` left. */
const watchForStop = (log: Log, drainMs: number, { stopSignal, isWorker }: Watching): Watched => {
  const { promise, resolve } = Promise.withResolvers<number>();
  let stoppingSince: number | undefined;
  const stop = (exitCode: number) => {
    stoppingSince = performance.now();
    setTimeout(() => {
      log.error({ drainMs }, 'Stopping took too long and was cut off.');
      process.exit(FAILED);
    }, drainMs).unref();
    stopSignal.abort();
    resolve(exitCode);
  };
  let onHangUp: (() => void) | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // A terminal sends these to all its processes, and the primary process decides for its workers.
      if (isWorker && signal !== 'SIGTERM') return;
      if (signal === 'SIGHUP' && onHangUp !== undefined && stoppingSince === undefined) {
        onHangUp();
      } else if (stoppingSince === undefined) {
        log.info({ signal }, 'Stopping.');
        stop(0);
      } else if (performance.now() - stoppingSince > SAME_SIGNAL_MS) {
        process.exit(128 + constants.signals[signal]);
      }
    });
  }
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'An unexpected failure ends this process.');
    if (stoppingSince === undefined) stop(FAILED);
  });
  return {
    stopping: promise,
    onHangUp(work) {
      // If its terminal closes, nobody is left to stop the process by hand.
      if (!process.stdin.isTTY) onHangUp = work;
    },
  };
};
