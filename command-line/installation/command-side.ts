import { pino } from 'pino';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#process/config.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { loadAdditions } from '#process/part.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { openErasureList } from '#shared/erasure/erasure-list.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { Registry } from '#shared/prometheus.ts';
import { openRowProofs } from '#shared/row-proofs/open.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createSecurityLog, type RecordSecurityEvent } from '../../auth/security/security-log.ts';
import { startCommandService } from '../../command/service.ts';
import type { Terminal } from '../terminal.ts';
import type { Installation } from './installation.ts';

/** The command side of an installation in this process, as one more replica of the role. */
export type CommandSide = {
  readonly domain: Domain;
  readonly config: Config;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly eventLog: EventLog;
  readonly blobs: Blobs;
  readonly gateway: CommandGateway;
  readonly record: RecordSecurityEvent;
  readonly rowProofs: RowProofs;
};

const CONNECTIONS_MAX = 4;

export const withCommandSide = async <Result>(
  { domain, parts, clock }: Pick<Terminal, 'domain' | 'parts' | 'clock'>,
  { config, databaseUrl, eventLog }: Installation,
  work: (side: CommandSide) => Promise<Result>,
): Promise<Result> => {
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: CONNECTIONS_MAX,
  });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  const log = pino({ level: 'silent' });
  const auditDir = config.audit.dir;
  // A demo’s clock tells the time of its story.
  const rowProofs = openRowProofs({ auditDir, pool, masterKey, clock: REAL_TIME, log });
  const erasures = openErasureList(auditDir);
  await using blobs = await openBlobs({ url: config.blobUrl, health: { add: () => {} } });
  await using gateway = await startCommandService(
    {
      ...{ domain, pool, eventLog, keys, masterKey, erasures, blobs, webhooks: config.webhooks },
      cell: config.cell,
      ...{ metrics: new Registry(), log, clock },
    },
    await loadAdditions(parts, 'command'),
  );
  const record = createSecurityLog({ eventLog, codec: createCodec({ keys, domain }), domain });
  // Awaited here, so that nothing is closed before it is done.
  return await work({ domain, clock, config, pool, eventLog, blobs, gateway, record, rowProofs });
};
