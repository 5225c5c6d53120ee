import { randomUUID } from 'node:crypto';
import type { Config } from '#shared/config.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createCodec } from '#shared/events/codec.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createEmailHash } from '../auth/accounts/email-hash.ts';
import { migrateAccounts, type Person, selectPersonByEmail } from '../auth/accounts/person-table.ts';
import { migratePasswordResets } from '../auth/password-reset/reset-table.ts';
import { createSecurityLog, type RecordSecurityEvent, type SecurityCircumstances } from '../auth/security-log.ts';
import { createRecordSeal, type RecordSeal } from '../auth/storage/seal-record.ts';
import { openInstallation } from './installation.ts';
import type { Terminal } from './terminal.ts';

export type Accounts = {
  readonly config: Config;
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly emailHash: (email: string) => string;
  readonly persons: { byEmail(email: string): Promise<Person | undefined> };
  readonly record: RecordSecurityEvent;
  readonly by: SecurityCircumstances;
};

const CONNECTIONS_MAX = 2;

/** Does something about who may sign in to the installation, running or not, as the operator. */
export const withAccounts = async <Result>(terminal: Terminal, work: (accounts: Accounts) => Promise<Result>): Promise<Result> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  for (const migrate of [migrateAccounts, migratePasswordResets]) await migrate(pool);
  const emailHash = createEmailHash(masterKey);
  // Awaited here, so that nothing is closed before it is done.
  return await work({
    config,
    pool,
    seal: createRecordSeal(masterKey),
    emailHash,
    persons: { byEmail: (email) => selectPersonByEmail(pool, emailHash(email)) },
    record: createSecurityLog({ eventLog, codec: createCodec({ keys }) }),
    by: { actor: 'system:command-line', client: null, requestId: randomUUID() },
  });
};
