import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { createAdmin, type Installation, PLENTY } from '../../../testing/installation.ts';
import { type Cuttable, openCuttable } from '../../engines/cuttable.ts';
import { temporaryDataDir } from '../../engines/data-dir.ts';
import { startNginx } from '../../engines/nginx.ts';
import { type Engines, type LogEngine, startEngines } from './engines.ts';
import { ROLES, type Role, type Supervised, supervise } from './supervised.ts';

/**
 * A whole installation as an operator runs it at scale: two replicas of each role behind an ingress, on
 * engines of their own.
 */
export type Site = AsyncDisposable &
  Pick<Installation, 'domain' | 'url' | 'admin' | 'fetch'> & {
    readonly engines: Engines;
    readonly copies: readonly Copy[];
    /** The settings of the roles, but with direct addresses of the engines. */
    readonly settings: Readonly<Record<string, string>>;
  };

export type Copy = {
  readonly role: Role;
  readonly process: Supervised;
  /** The path from the ingress to it; the projector has none. */
  readonly way: Cuttable;
  /** The path from the other roles to its internal listener. */
  readonly internalWay: Cuttable;
  /** Moves its clock by so much from the real one. */
  moveClock(byMs: number): Promise<void>;
};

const MOVED_CLOCK = new URL('moved-clock.ts', import.meta.url).href;

const COPIES = 2;
/** The time after which the ingress tries an unavailable replica again. */
const AGAIN = 'max_fails=1 fail_timeout=1s';
/** Short retries and retry budgets; slow operations count as failures. */
const SHORT_TIMEOUTS = {
  WEBHOOK_RETRY_SCHEDULE: '0.2,0.3,0.4,0.5,0.6,0.7,0.8',
  WEBHOOK_TIMEOUT_MS: '2000',
  STREAM_HEARTBEAT_MS: '1000',
  AUDIT_HEAD_EVERY_MS: '2000',
  DRAIN_NOTICE_MS: '300',
};

export const startSite = async (logEngine: LogEngine): Promise<Site> => {
  await using opening = new AsyncDisposableStack();
  const engines = opening.use(await startEngines(logEngine));
  const dataDir = opening.use(await temporaryDataDir());
  const secret = randomUUID();
  const nginx = opening.use(await startNginx({ secret }));
  const slots = await openSlots(opening);
  const internal = slots.filter(({ role }) => role === 'command').map(({ internalWay }) => internalWay.url);
  const common = {
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: nginx.url,
    JWKS_URL: `${nginx.url}/jwks`,
    COMMAND_URL: internal.join(),
    TRUST_PROXY: '1',
    HEADER_BYTES_MAX: '32768',
    CLIENT_CERT_SECRET: secret,
    ...PLENTY,
    ...SHORT_TIMEOUTS,
  };
  const settings = { ...common, ...engines.settings };
  const straight = {
    ...settings,
    DATABASE_URL: engines.straight.databaseUrl,
    EVENT_LOG_URL: engines.straight.eventLogUrl,
  };
  const admin = await createAdmin(straight, publishing);
  const copies = slots.map(({ role, copy, port, internalPort, way, internalWay }): Copy => {
    const clock = join(dataDir.path, `clock-${role}-${copy}`);
    const own = {
      ...{ ...settings, PORT: String(port), INTERNAL_PORT: String(internalPort) },
      ...{ NODE_OPTIONS: `--import ${MOVED_CLOCK}`, CLOCK_MOVED_BY: clock },
    };
    const process = opening.use(supervise({ role, copy, settings: own }));
    return { role, process, way, internalWay, moveClock: (byMs) => writeFile(clock, String(byMs)) };
  });
  const addresses = (role: Role) =>
    slots.filter((slot) => slot.role === role).map(({ way }) => `127.0.0.1:${way.port} ${AGAIN}`);
  const to = { command: addresses('command'), query: addresses('query'), auth: addresses('auth') };
  await nginx.lead({ ...to, dispatcher: addresses('webhook-dispatcher') });
  await Promise.all(copies.map(({ process }) => process.ready()));
  const resources = opening.move();
  return {
    domain: publishing,
    url: nginx.url,
    fetch,
    admin,
    engines,
    copies,
    settings: straight,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Slot = Omit<Copy, 'process' | 'moveClock'> & {
  readonly copy: number;
  readonly port: number;
  readonly internalPort: number;
};

const openSlots = async (opening: AsyncDisposableStack): Promise<readonly Slot[]> => {
  const slots: Slot[] = [];
  for (const role of ROLES) {
    for (let copy = 0; copy < COPIES; copy += 1) {
      const [port, internalPort] = [await freePort(), await freePort()];
      const [way, internalWay] = [
        await openCuttable(`http://127.0.0.1:${port}`),
        await openCuttable(`http://127.0.0.1:${internalPort}`),
      ];
      opening.use(way);
      opening.use(internalWay);
      slots.push({ role, copy, port, internalPort, way, internalWay });
    }
  }
  return slots;
};
