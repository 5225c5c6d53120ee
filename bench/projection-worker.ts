import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { rebuild } from '../projector/rebuild.ts';
import { startProjector } from '../projector/service.ts';
import { openPool } from '../shared/database/pool.ts';
import { openEventLog } from '../shared/event-log/open.ts';
import { createCodec } from '../shared/events/codec.ts';
import { readCheckpoint } from '../shared/follower/checkpoint.ts';
import { parseMasterKey } from '../shared/keys/master-key.ts';
import { openPostgresKeyStore } from '../shared/keys/postgres/postgres-key-store.ts';
import { createMetrics } from '../shared/metrics.ts';
import { PROJECTOR } from '../shared/read-model/read-model.ts';
import { MASTER_KEY } from './projection-log.ts';

// One process that catches up with a log as the live projector does, or rebuilds, and prints how long that took and what memory it needed.
const { values } = parseArgs({ options: { work: { type: 'string' }, url: { type: 'string' } } });
const url = String(values.url);

await using eventLog = await openEventLog({ url });
await using pool = openPool({ url, applicationName: 'annals-bench', connectionsMax: 8, statementTimeoutMs: 3_600_000 });
await using keys = await openPostgresKeyStore({ pool, masterKey: parseMasterKey(MASTER_KEY) });

const catchUp = async () => {
  const head = await eventLog.head();
  const bell = { ringEverywhere() {} };
  await using _projector = await startProjector({ pool, eventLog, keys, bell, log: pino({ level: 'silent' }), metrics: createMetrics() });
  while (((await readCheckpoint(pool, PROJECTOR))?.position ?? 0) < head) await delay(20);
};

const build = () => rebuild({ pool, eventLog, codec: createCodec({ keys }), signal: new AbortController().signal, onProgress() {} });

const startedMs = performance.now();
await (values.work === 'rebuild' ? build() : catchUp());
const seconds = (performance.now() - startedMs) / 1_000;
process.send?.({ seconds, megabytes: process.resourceUsage().maxRSS / 1_024 });
