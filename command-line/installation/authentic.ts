import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import { type AuthenticEvents, openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { findMasterKey, openMasterKey } from '#shared/keys/master-key-file.ts';
import { isKeyOf } from '#shared/keys/postgres/statements.ts';

type Opening = {
  readonly config: Config;
  /** Of the installation whose log it is. */
  readonly databaseUrl: string;
  /** The command may run before the first start, and makes the master key then. */
  readonly mayBegin: boolean;
  /** The operator trusts all events that are in the log now, although nothing says since when. */
  readonly mayBeginAnew?: boolean | undefined;
  /** A copy is not served yet: no folder knows it. */
  readonly isOfCopy?: boolean;
};

/**
 * The MACs of events for a command. Undefined without the master key of the installation: a command that needs the
 * key says so itself, and any other shows what is in the log.
 */
export const openAuthentic = async ({
  config,
  databaseUrl,
  mayBegin,
  mayBeginAnew = false,
  isOfCopy = false,
}: Opening): Promise<AuthenticEvents | undefined> => {
  const masterKey = mayBegin ? await openMasterKey(config) : await findMasterKey(config);
  if (masterKey === undefined) return undefined;
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(
    openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: 1 }),
  );
  if ((await isKeyOf(pool, masterKey)) === false) return undefined;
  const events = opening.use(
    openAuthenticEvents({
      ...{ pool, masterKey, clock: REAL_TIME, isReader: true, mayBeginAnew },
      auditDir: isOfCopy ? undefined : config.audit.dir,
      // The commands that read the log report these events.
      log: { info() {}, warn() {}, error() {} },
    }),
  );
  const resources = opening.move();
  return { ...events, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** The master key of the installation; any other would not be able to say anything about its events. */
export const demandMasterKey = async (config: Config, pool: Pick<Pool, 'query'>): Promise<MasterKey> => {
  const masterKey = await findMasterKey(config);
  if (masterKey === undefined || (await isKeyOf(pool, masterKey)) === false)
    throw new StartRefused(
      'The command needs the MASTER_KEY of the installation: set it, or DATA_DIR to the folder that has it.',
    );
  return masterKey;
};
