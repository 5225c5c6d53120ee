import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { test as base } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { openPeople, type TokenHolder } from '../../../testing/http/people.ts';
import { until } from '../../../testing/until.ts';
import { type Installation, startInstallation } from '../../engines/installation.ts';

/** All roles in one process, the target of the overload. */
export type Target = AsyncDisposable & {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly databaseUrl: string;
  readonly administrator: TokenHolder;
  /** A request of a normal client, on a connection of its own. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** The sum of all samples with this name and these labels. */
  metric(name: string, labels?: string): Promise<number>;
  /** The memory of the process, now and at most while it was watched. */
  watchMemory(): Watched;
  /** The output of the process. */
  printed(): string;
  /** Waits until it answers normally, with no requests in progress. */
  recovered(): Promise<void>;
};

type Settings = Readonly<Record<string, string>>;

/** In MiB; NaN without /proc. */
type Watched = Disposable & { readonly beforeMib: number; peakMib(): number };

/** A kept-alive connection may be closed just when it is used again. */
const CLOSE = { connection: 'close' };
const SAMPLE_MS = 50;
const RECOVERS_WITHIN_MS = 60_000;

const startTarget = async (settings: Settings): Promise<Target> => {
  const metricsPort = await freePort();
  const installation = await startInstallation({
    ownProcess: true,
    settings: { METRICS_PORT: String(metricsPort), ...settings },
  });
  const { url } = installation;
  const { administrator } = await openPeople(installation);
  const { hostname: host, port } = new URL(url);
  const pid = pidOf(installation);
  const ask: Target['ask'] = (path, init) =>
    fetch(url + path, { ...init, headers: { ...init?.headers, ...CLOSE } });
  const metric: Target['metric'] = async (name, labels = '') => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers: CLOSE })).text();
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines
      .filter((line) => line.includes(labels))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  return {
    ...{ url, host, port: Number(port), pid, administrator, ask, metric, printed: installation.printed },
    databaseUrl: installation.settings.DATABASE_URL ?? '',
    watchMemory: () => watch(pid),
    async recovered() {
      // Only this very request is in progress.
      const isIdle = async () =>
        (await metric('annals_http_requests_in_flight')) === 0 && (await ask('/articles')).status === 200;
      await until(isIdle, Boolean, RECOVERS_WITHIN_MS);
    },
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
};

/** A target for each file, with the settings that it needs. */
export const test = base
  .extend('targetSettings', { scope: 'file' }, {} as Settings)
  .extend('target', { scope: 'file' }, async ({ targetSettings }, { onCleanup }) => {
    const target = await startTarget(targetSettings);
    onCleanup(() => target[Symbol.asyncDispose]());
    return target;
  });

const pidOf = (installation: Installation): number => Number(/"pid":(\d+)/.exec(installation.printed())?.[1]);

const watch = (pid: number): Watched => {
  const beforeMib = residentMib(pid);
  let peakMib = beforeMib;
  const timer = setInterval(() => {
    peakMib = Math.max(peakMib, residentMib(pid));
  }, SAMPLE_MS);
  return {
    beforeMib,
    peakMib: () => Math.max(peakMib, residentMib(pid)),
    [Symbol.dispose]: () => clearInterval(timer),
  };
};

const residentMib = (pid: number): number => {
  if (platform() !== 'linux') return 0;
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
};
