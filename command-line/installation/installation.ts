import {
  connectEmbeddedPostgres,
  hasEmbeddedPostgres,
  startEmbeddedPostgres,
} from '#adapters/embedded-postgres/embedded.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import { isOnSharedServer, isPostgres, openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { loadConfig } from '#process/load-config.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { demandDatabase } from '#shared/database/demand-database.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { keepLogOwner, type LogOwner, readLogOwner } from '#shared/event-log/owner/owner.ts';
import { demandServedDomain } from '#shared/served-domain/served-domain.ts';
import type { Terminal } from '../terminal.ts';
import { openAuthentic } from './authentic.ts';

export type Installation = AsyncDisposable & {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly eventLog: EventLog;
  /** Whether positions count events, which is so in PostgreSQL only. */
  readonly isDense: boolean;
};

type Opening = {
  /** Fills an empty installation. */
  readonly mayMake?: boolean;
  /** The command may run before the first start, and begins the log then. */
  readonly mayBegin?: boolean;
  readonly mayBeOfAnother?: boolean;
  /** Trusts all events that are in the log now, although nothing says since when they are authentic. */
  readonly mayBeginAnew?: boolean;
} & Pick<LogOwner, 'looksOnly' | 'takesOver'>;

/**
 * Connects to the installation that the settings describe: a running one, or the embedded database, started
 * for as long as needed. Only commands that fill an empty installation make one.
 */
export const openInstallation = async (
  { domain, environment, signal }: Terminal,
  { mayMake = false, mayBegin = mayMake, mayBeOfAnother = false, mayBeginAnew, ...owning }: Opening = {},
): Promise<Installation> => {
  const config = loadConfig(environment);
  await using opening = new AsyncDisposableStack();
  const databaseUrl = await reachDatabase(config, opening, mayMake ? { signal } : undefined);
  const { eventLogUrl, eventLogPrefix } = config;
  // A database that takes over the log of a lost one knows nothing of it: its operator trusts the log.
  const anew = mayBeginAnew || owning.takesOver !== undefined;
  const authentic = owning.looksOnly
    ? undefined
    : await openAuthentic({ config, databaseUrl, mayBegin, mayBeginAnew: anew });
  if (authentic) opening.use(authentic);
  const eventLog = opening.use(
    await openConfiguredEventLog({
      ...{ eventLogUrl, eventLogPrefix },
      owner: isOnSharedServer(eventLogUrl) ? await ownerIn(databaseUrl, { mayBegin, ...owning }) : undefined,
      databaseUrl,
      directUrl: config.databaseDirectUrl,
      clock: REAL_TIME,
      authentic,
    }),
  );
  if (!mayBeOfAnother) await demandDomain(databaseUrl, domain);
  const isDense = isPostgres(eventLogUrl ?? databaseUrl);
  const resources = opening.move();
  return { config, databaseUrl, eventLog, isDense, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const ownerIn = async (
  url: string,
  { mayBegin, looksOnly = false, takesOver }: Pick<Opening, 'mayBegin' | 'looksOnly' | 'takesOver'>,
): Promise<LogOwner> => {
  await using pool = openPool({ url, applicationName: 'annals', connectionsMax: 1 });
  const keeps = mayBegin || takesOver !== undefined;
  return { ...(await (keeps ? keepLogOwner : readLogOwner)(pool)), looksOnly, takesOver };
};

const demandDomain = async (url: string, domain: Terminal['domain']): Promise<void> => {
  await using pool = openPool({ url, applicationName: 'annals', connectionsMax: 1 });
  await demandServedDomain(pool, domain);
};

/** Set if an empty installation is to be filled: its signal ends the making of the database. */
type Making = Pick<Terminal, 'signal'> | undefined;

const reachDatabase = async (
  { databaseUrl, databaseDirectUrl: directUrl, dataDir }: Config,
  opening: AsyncDisposableStack,
  making: Making,
): Promise<string> => {
  if (databaseUrl === undefined) return reachEmbedded(dataDir, opening, making);
  await demandDatabase({ databaseUrl, directUrl });
  return databaseUrl;
};

/** Most commands make no data folder: that would hide a mistyped one. */
const reachEmbedded = async (
  dataDir: string,
  opening: AsyncDisposableStack,
  making: Making,
): Promise<string> => {
  const running = await connectEmbeddedPostgres(dataDir);
  if (running !== undefined) return running;
  if (!making && !(await hasEmbeddedPostgres(dataDir))) {
    throw new StartRefused(
      `There is no data in ${dataDir} yet: run npm start first, or set DATA_DIR or DATABASE_URL.`,
    );
  }
  return opening.use(await startEmbeddedPostgres({ dataDir, ...making })).url;
};
