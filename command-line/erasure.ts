import { pino } from 'pino';
import type { Domain } from '#kernel/registry/registry.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type ErasureList, openErasureList } from '#shared/erasure/erasure-list.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import type { Log } from '#shared/log.ts';
import { type Installation, openInstallation } from './installation.ts';
import type { Terminal } from './terminal.ts';

export type Erasing = Pick<Installation, 'config' | 'eventLog'> & {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly keys: KeyStore;
  readonly erasures: ErasureList;
  readonly log: Log;
};

const CONNECTIONS_MAX = 4;

/** Does something about erasures in the installation, running or not. */
export const withErasures = async (terminal: Terminal, work: (erasing: Erasing) => Promise<void>): Promise<void> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({ url: databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  await work({
    domain: terminal.domain,
    config,
    eventLog,
    pool,
    masterKey,
    keys,
    erasures: openErasureList(config.audit.dir),
    log: pino({ level: 'silent' }),
  });
};
