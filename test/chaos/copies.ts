import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { openPool } from '#shared/database/pool.ts';
import { createAdmin, type Installation, PLENTY } from '../../testing/installation.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { startNginx } from '../engines/nginx.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import type { Failure } from './steady-load.ts';

/** Two replicas of each role behind the ingress, each of which can be restarted in place. */
export type Copies = AsyncDisposable &
  Pick<Installation, 'url' | 'admin' | 'fetch' | 'settings'> & {
    /**
     * Sends SIGTERM, waits for the end, starts it again, and waits until it is ready. Returns how it ended.
     */
    restart(role: Role, copy: number, from?: Root): ReturnType<RoleProcess['kill']>;
    /** Resolves once it has answered a request since its start: the ingress uses it again. */
    asked(role: Role, copy: number): Promise<unknown>;
    /** From now on the ingress uses only these. */
    leadOnly(isThere: (role: Role, copy: number) => boolean): Promise<void>;
    /** Adds to each failure the related logs of the replicas. */
    explain(failures: readonly Failure[]): readonly unknown[];
  };

/** The folder of the release that a process is started from; by default this checkout. */
type Root = string | undefined;

export const ROLES = ['command', 'query', 'auth', 'projector', 'webhook-dispatcher'] as const;
export type Role = (typeof ROLES)[number];
export const COPIES = 2;

const READY = 'Annals is ready.';
/** The time after which the ingress tries an unavailable replica again. */
const AGAIN = 'max_fails=1 fail_timeout=1s';
/** As in production. */
const NOTICE_MS = 2_000;

export const startCopies = async (from?: Root): Promise<Copies> => {
  await using opening = new AsyncDisposableStack();
  // The previous release finds its tables by the search path.
  const database = opening.use(await createDatabase(from === undefined ? {} : { settings: {} }));
  const dataDir = opening.use(await temporaryDataDir());
  const secret = randomUUID();
  const nginx = opening.use(await startNginx({ secret }));
  const ports = new Map<string, { readonly port: number; readonly internalPort: number }>();
  for (const role of ROLES) {
    for (let copy = 0; copy < COPIES; copy += 1)
      ports.set(`${role} ${copy}`, { port: await freePort(), internalPort: await freePort() });
  }
  const portsOf = (role: Role, copy: number) => ports.get(`${role} ${copy}`) ?? { port: 0, internalPort: 0 };
  const each = <Result>(make: (copy: number) => Result): Result[] =>
    Array.from({ length: COPIES }, (_, copy) => make(copy));
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: nginx.url,
    JWKS_URL: `${nginx.url}/jwks`,
    COMMAND_URL: each((copy) => `http://127.0.0.1:${portsOf('command', copy).internalPort}`).join(),
    TRUST_PROXY: '1',
    HEADER_BYTES_MAX: '32768',
    CLIENT_CERT_SECRET: secret,
    RATE_LIMIT_URL: 'postgres:',
    DRAIN_NOTICE_MS: String(NOTICE_MS),
    ...PLENTY,
  };
  const start = (role: Role, copy: number, root: Root): RoleProcess => {
    const { port, internalPort } = portsOf(role, copy);
    return startRole(
      `${role}/main.ts`,
      { ...settings, PORT: String(port), INTERNAL_PORT: String(internalPort) },
      root,
    );
  };
  const running = new Map<string, RoleProcess>();
  const started: RoleProcess[] = [];
  opening.defer(
    async () =>
      void (await Promise.all([...running.values()].map((process) => process[Symbol.asyncDispose]()))),
  );
  const begin = async (role: Role, copy: number, root: Root) => {
    const process = start(role, copy, root);
    running.set(`${role} ${copy}`, process);
    started.push(process);
    await process.logged(READY);
  };
  const admin = await createAdmin(settings, publishing);
  if (from !== undefined) await forgetThisRelease(database.url, join(dataDir.path, 'audit'));
  const leadOnly: Copies['leadOnly'] = (isThere) => {
    const addresses = (role: Role) =>
      each((copy) => (isThere(role, copy) ? [`127.0.0.1:${portsOf(role, copy).port} ${AGAIN}`] : [])).flat();
    const to = { command: addresses('command'), query: addresses('query'), auth: addresses('auth') };
    return nginx.lead({ ...to, dispatcher: addresses('webhook-dispatcher') });
  };
  await leadOnly(() => true);
  // One role after the other: all of them at once take longer.
  for (const role of ROLES) await Promise.all(each((copy) => begin(role, copy, from)));
  const resources = opening.move();
  return {
    url: nginx.url,
    fetch,
    admin,
    settings,
    leadOnly,
    explain(failures) {
      const lines = started.flatMap((process) => process.printed().split('\n'));
      return failures.map((failure) => ({
        ...failure,
        logged: lines.filter((line) => line.includes(requestIdOf(failure))),
      }));
    },
    asked: async (role, copy) => running.get(`${role} ${copy}`)?.logged('request'),
    async restart(role, copy, root) {
      const ended = (await running.get(`${role} ${copy}`)?.kill('SIGTERM')) ?? null;
      await begin(role, copy, root);
      return ended;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The command line of this release made the first client: undoes what tells it from the previous release. */
const forgetThisRelease = async (url: string, auditDir: string): Promise<void> => {
  await using pool = openPool({ url, applicationName: 'test', connectionsMax: 1 });
  await pool.query(
    `delete from public.cursor_form;
     drop table public.authentic_events, public.decided_events;
     delete from public.annals_migration where component like 'authentic-events%';
     alter table event_log.event disable trigger append_only;
     update event_log.event set mac = null;
     alter table event_log.event enable trigger append_only`,
  );
  await rm(auditDir, { recursive: true, force: true });
};

const requestIdOf = ({ why }: Failure): string =>
  /"requestId":"([^"]+)"/.exec(JSON.stringify(why))?.[1] ?? 'nothing to look for';
