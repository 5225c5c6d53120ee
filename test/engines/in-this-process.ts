import type { Scan } from '#kernel/base/scan.ts';
import { withParts } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import type { Part } from '#process/part.ts';
import { signUpRoleOf } from '#process/sign-up-role.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { startAll } from '../../all-roles.ts';
import { ALL_PARTS } from '../../parts.ts';
import type { Settings } from '../../testing/installation.ts';
import { keepOutput } from './process-output.ts';
import type { RoleProcess } from './role-process.ts';

/** All roles in the process of the test. */
type InThisProcess = Pick<RoleProcess, 'kill' | 'printed'> & AsyncDisposable;

/** A stream that nobody closes must not delay the next file. */
const DRAIN_MS = '3000';
/** Of its log; the oldest are forgotten. */
const LINES_MAX = 20_000;

/**
 * Starts all roles in the process of the test: their modules are loaded already, which is most of what a start
 * costs. Nothing here reads the environment of the process.
 */
export const startInThisProcess = async (
  {
    domain,
    scan,
    routes,
    parts = ALL_PARTS,
  }: {
    readonly domain: Domain;
    readonly scan?: Scan;
    readonly routes?: OwnRoutes;
    readonly parts?: readonly Part[];
  },
  settings: Settings,
): Promise<InThisProcess> => {
  const config = loadConfig({
    NODE_ENV: 'test',
    METRICS_PORT: '0',
    INTERNAL_PORT: '0',
    LOG_LEVEL: 'info',
    DRAIN_MS,
    ...settings,
  });
  signUpRoleOf(domain, config.signUp);
  const lines: string[] = [];
  keepOutput({ started: `all roles of ${domain.name} in the process of the test`, lines });
  const log = createLog({
    level: config.logLevel,
    destination: {
      write(line: string): void {
        lines.push(line.trimEnd());
        if (lines.length > LINES_MAX) lines.shift();
      },
    },
  });
  const stopping = new AbortController();
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  await startAll({
    config,
    domain: withParts(
      domain,
      parts.map(({ name }) => name),
    ),
    parts,
    routes,
    scan,
    clock: REAL_TIME,
    log,
    resources,
    signal: stopping.signal,
  });
  const started = opening.move();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await started.disposeAsync();
  };
  return {
    printed: () => lines.join('\n'),
    async kill(signal) {
      if (signal !== 'SIGTERM') throw new Error(`${signal} needs an installation with ownProcess: true`);
      await stop();
      return 0;
    },
    [Symbol.asyncDispose]: stop,
  };
};
