import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { openEventLog } from '../process/engines/open-event-log.ts';
import { createMetrics } from '../process/observability/metrics.ts';
import { startProjector } from '../projector/service.ts';
import { startChain } from '../proof/chain/follow-chain.ts';
import { replay } from '../proof/replay/replay.ts';
import { readChainEnd } from '../proof/stored/blocks.ts';
import { verify } from '../proof/verify/verify.ts';
import { migrateAudit } from '../shared/audit/migrate.ts';
import { REAL_TIME } from '../shared/clock/real-time.ts';
import { openPool } from '../shared/database/pool.ts';
import { PROJECTOR } from '../shared/database/read-model-schemas.ts';
import { createCodec } from '../shared/events/codec.ts';
import { readCheckpoint } from '../shared/follower/checkpoint.ts';
import { parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';
import { rebuild } from '../shared/projection/rebuild.ts';
import { tablesOf } from '../shared/read-model/tables.ts';
import { createSnapshots } from '../shared/snapshots/snapshots.ts';
import { HISTORIES, type HistoryName } from './histories.ts';
import { MASTER_KEY } from './projection-log.ts';

// A process that runs one task on a whole log, and reports its time and memory.
const { values } = parseArgs({
  options: { work: { type: 'string' }, url: { type: 'string' }, domain: { type: 'string' } },
});
const url = String(values.url);
const { domain } = HISTORIES[values.domain as HistoryName];

await using eventLog = await openEventLog({ url, clock: REAL_TIME });
await using pool = openPool({
  url,
  applicationName: 'annals-bench',
  connectionsMax: 10,
  statementTimeoutMs: 3_600_000,
});
const masterKey = parseMasterKey(MASTER_KEY);
await using keys = await openPostgresKeyStore({ pool, masterKey });

const catchUp = async () => {
  const head = await eventLog.head();
  const notifier = { announce() {} };
  await using _projector = await startProjector({
    domain,
    pool,
    eventLog,
    keys,
    notifier,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    clock: REAL_TIME,
  });
  while (((await readCheckpoint(pool, PROJECTOR))?.position ?? 0) < head) await delay(20);
};

/** Nothing stops it, and nobody watches. */
const mending = { pool, eventLog, codec: createCodec({ keys, domain }), tables: tablesOf(domain) };
const work = { ...mending, signal: new AbortController().signal, onProgress() {} };

/** Builds the whole chain, as the follower of a running system would. */
const chain = async () => {
  const head = await eventLog.head();
  await migrateAudit(pool);
  const auditDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(auditDir, { recursive: true, force: true }) };
  await using _chain = await startChain({
    pool,
    eventLog,
    masterKey,
    auditDir,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    clock: REAL_TIME,
  });
  while ((await readChainEnd(pool)).position < head) await delay(20);
};

const verifyAll = async () => {
  const snapshots = createSnapshots({ pool, keys, masterKey, eventLog });
  const report = await verify({
    ...work,
    domain,
    snapshots,
    masterKey,
    auditDir: join(tmpdir(), 'annals-bench-no-heads'),
    isOfReadModel: true,
    showPersonal: false,
  });
  if (report.outcome !== 'proven') throw new Error(JSON.stringify(report.findings));
};

const WORKS: Readonly<Record<string, () => Promise<unknown>>> = {
  'catch-up': catchUp,
  rebuild: () => rebuild(work),
  chain,
  replay: async () => replay(work, { schema: 'replay_bench', upTo: await eventLog.head() }),
  verify: verifyAll,
};

const startedMs = performance.now();
const before = process.cpuUsage();
await WORKS[String(values.work)]?.();
const seconds = (performance.now() - startedMs) / 1_000;
const { user, system } = process.cpuUsage(before);
process.send?.({ seconds, megabytes: process.resourceUsage().maxRSS / 1_024, cpuUs: user + system });
