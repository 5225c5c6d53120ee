import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import { withConsole } from '../../auth/clients/built-in.ts';
import type { By } from '../../auth/clients/by.ts';
import { migrateClients } from '../../auth/clients/client-table.ts';
import { type Clients, createClients } from '../../auth/clients/clients.ts';
import { withFapi } from '../../auth/clients/fapi.ts';
import { migrateAuthStorage } from '../../auth/storage/statements.ts';
import type { Terminal } from '../terminal.ts';
import { type CommandSide, withCommandSide } from './command-side.ts';
import { openInstallation } from './installation.ts';

/** Changes clients of the installation, running or not, as the operator. */
export const withClients = async <Result>(
  terminal: Terminal,
  work: (clients: Clients, by: By, pool: Pool) => Promise<Result>,
): Promise<Result> => {
  await using installation = await openInstallation(terminal, { mayBegin: true });
  return await withCommandSide(terminal, installation, async (side) => {
    const clients = await openClients(side);
    try {
      return await work(clients, byOperator(), side.pool);
    } catch (error) {
      if (error instanceof Rejection) throw new StartRefused(error.message, { cause: error });
      throw error;
    }
  });
};

export const byOperator = (): By => ({
  caller: { kind: 'system', name: 'command-line' },
  requestId: randomUUID(),
});

export const openClients = async ({
  domain,
  config,
  pool,
  clock,
  eventLog,
  gateway,
  record,
  rowProofs,
}: CommandSide): Promise<Clients> => {
  for (const migrate of [migrateRevocations, migrateAuthStorage, migrateClients]) await migrate(pool);
  const { recordEndedGrant } = await import('../../auth/provider/ended-grants.ts');
  const registered = createClients({
    ...{ domain, pool, gateway, eventLog, record, rowProofs, clock },
    // Not needed here: the server's directory of persons follows the log.
    persons: { register: async () => {} },
    onEnded: recordEndedGrant({ record, log: pino({ level: 'silent' }) }),
  });
  const allowed = config.oauthProfile === 'fapi-2.0' ? withFapi(registered) : registered;
  return withConsole(allowed, domain, config.publicUrl);
};
