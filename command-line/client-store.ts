import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openBlobs } from '#shared/blobs/open.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { openErasureList } from '#shared/erasure/erasure-list.ts';
import { createCodec } from '#shared/events/codec.ts';
import { migrateRevocations } from '#shared/http/authenticate/revocations.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { Rejection } from '#shared/rejection.ts';
import { withConsole } from '../auth/clients/built-in.ts';
import type { By } from '../auth/clients/by.ts';
import { migrateClients } from '../auth/clients/client-table.ts';
import { type Clients, createClients } from '../auth/clients/clients.ts';
import { recordEndedGrant } from '../auth/provider/ended-grants.ts';
import { createSecurityLog } from '../auth/security-log.ts';
import { migrateAuthStorage } from '../auth/storage/statements.ts';
import { startCommandService } from '../command/service.ts';
import { openInstallation } from './installation.ts';
import type { Terminal } from './terminal.ts';

const CONNECTIONS_MAX = 4;

/** Does something with the clients of the installation, running or not, as the operator. */
export const withClients = async <Result>(
  terminal: Terminal,
  work: (clients: Clients, by: By, pool: Pool) => Promise<Result>,
): Promise<Result> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  for (const migrate of [migrateRevocations, migrateAuthStorage, migrateClients]) await migrate(pool);
  const log = pino({ level: 'silent' });
  const erasures = openErasureList(config.audit.dir);
  await using blobs = await openBlobs({ url: config.blobUrl, health: { add: () => {} } });
  await using gateway = await startCommandService({
    ...{ domain: terminal.domain, pool, eventLog, keys, masterKey, erasures, blobs },
    ...{ metrics: new Registry(), log },
  });
  const record = createSecurityLog({ eventLog, codec: createCodec({ keys, domain: terminal.domain }), domain: terminal.domain });
  const registered = createClients({
    domain: terminal.domain,
    pool,
    gateway,
    eventLog,
    // The directory of persons follows the log.
    persons: { register: async () => {} },
    record,
    onEnded: recordEndedGrant({ record, log }),
  });
  const clients = withConsole(registered, terminal.domain, config.publicUrl);
  const by: By = { caller: { kind: 'system', name: 'command-line' }, requestId: randomUUID() };
  try {
    return await work(clients, by, pool);
  } catch (error) {
    if (error instanceof Rejection) throw new StartRefused(error.message, { cause: error });
    throw error;
  }
};
