import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { test as base } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createCheckPerson } from '#shared/persons/check-person.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { createRowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createCredentials } from '../../auth/accounts/credentials.ts';
import { openDirectory } from '../../auth/directory.ts';
import { startCommandService } from '../../command/service.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { NO_BLOBS } from './no-blobs.ts';
import { NO_ERASURES } from './no-erasures.ts';

type RevokeUser = Parameters<typeof openDirectory>[0]['revokeUser'];

/** A command side, and what a directory of persons needs to open. */
const openDirectoryFixture = async () => {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await createMigratedDatabase());
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const log = pino({ level: 'silent' });
  const pool = opening.use(openPool({ url, applicationName: 'test', connectionsMax: 16 }));
  const eventLog = opening.use(await openEventLog({ url, clock: REAL_TIME }));
  const keys = opening.use(await openPostgresKeyStore({ pool, masterKey }));
  const rowProofs = createRowProofs({ masterKey, log });
  const common = (clock: Clock = REAL_TIME) => ({
    domain: publishing,
    pool,
    keys,
    masterKey,
    log,
    clock,
    metrics: createMetrics(),
  });
  const openCommands = (over: EventLog, clock?: Clock) =>
    startCommandService({ ...common(clock), eventLog: over, blobs: NO_BLOBS, erasures: NO_ERASURES }, []);
  const side = opening.use(await openCommands(eventLog));
  const readPerson = createReadPerson({ ...common(), eventLog, codec: createCodec(common()) });
  const checkPerson = createCheckPerson({ ...common(), readPerson });
  const open = (revokeUser: RevokeUser = async () => {}) =>
    openDirectory({ ...common(), rowProofs, eventLog, checkPerson, revokeUser });
  // The first directory makes the tables.
  await (await open())[Symbol.asyncDispose]();
  const credentials = await createCredentials({ pool, rowProofs });
  const resources = opening.move();
  return {
    ...{ pool, rowProofs, eventLog, side, credentials, openCommands, open },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** One for each file. `open` opens a directory of persons, as another process would. */
export const test = base
  .extend('openFixture', { scope: 'file' }, () => openDirectoryFixture)
  .extend('fixture', { scope: 'file' }, async ({ openFixture }, { onCleanup }) => {
    const fixture = await openFixture();
    onCleanup(() => fixture[Symbol.asyncDispose]());
    return fixture;
  })
  .extend('pool', { scope: 'file' }, ({ fixture }) => fixture.pool)
  .extend('rowProofs', { scope: 'file' }, ({ fixture }) => fixture.rowProofs)
  .extend('eventLog', { scope: 'file' }, ({ fixture }) => fixture.eventLog)
  .extend('side', { scope: 'file' }, ({ fixture }) => fixture.side)
  .extend('credentials', { scope: 'file' }, ({ fixture }) => fixture.credentials)
  .extend('openCommands', { scope: 'file' }, ({ fixture }) => fixture.openCommands)
  .extend('open', { scope: 'file' }, ({ fixture }) => fixture.open);
