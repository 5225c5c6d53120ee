import { join } from 'node:path';
import { redisMissing, startRedis } from '../test/engines/redis.ts';
import { listOf, readOptions } from './options.ts';
import { runBench } from './run-bench.ts';
import { measureHanging } from './webhooks/hanging.ts';
import { startInstallation } from './webhooks/installation.ts';
import { measureLatency } from './webhooks/latency.ts';
import { measureThroughput } from './webhooks/throughput.ts';

// Measures webhooks, with all roles in one process, as `npm start` runs them. Throughput: from the first to
// the last delivery of some events, signed, checked and recorded, against BullMQ running empty jobs that were
// added before, on the same engine, and against a bare loop of POSTs by undici; all to a receiver in a
// process of its own, in turns. Latency: from the acknowledgement of a write until its delivery, at a steady
// rate. Hanging: the same for all other endpoints, while one never answers.
const options = readOptions({
  parts: ['throughput,latency,hanging', 'throughput,latency'],
  engines: ['postgres,redis', 'postgres,redis'],
  endpoints: ['100', '50'],
  // Each event is delivered to all endpoints.
  events: ['100', '40'],
  rounds: ['3', '3'],
  rate: ['200', '50'],
  // The option of the hanging part, where each write goes to all endpoints.
  'fan-out-rate': ['4', '4'],
  seconds: ['20', '5'],
});

const endpoints = Number(options.endpoints);
const seconds = Number(options.seconds);
const parts = listOf(options.parts);

const measureOn = async (engine: string, dataDir: string): Promise<void> => {
  await using running = new AsyncDisposableStack();
  const redis = engine === 'redis' ? running.use(await startRedis()) : undefined;
  const queue = redis?.url ?? 'postgres:';
  const start = (part: string) => startInstallation({ dataDir: join(dataDir, part), queue });
  const title = engine === 'redis' ? 'Redis' : 'PostgreSQL';
  if (parts.includes('throughput')) {
    await using installation = await start('throughput');
    await measureThroughput({
      installation,
      title,
      redisUrl: redis?.url,
      endpoints,
      events: Number(options.events),
      rounds: Number(options.rounds),
    });
  }
  if (parts.includes('latency')) {
    await using installation = await start('latency');
    await measureLatency({ installation, title, rate: Number(options.rate), seconds });
  }
  if (parts.includes('hanging')) {
    await using installation = await start('hanging');
    await measureHanging({ installation, title, endpoints, rate: Number(options['fan-out-rate']), seconds });
  }
};

await runBench(async (folder) => {
  for (const engine of listOf(options.engines)) {
    if (engine === 'redis' && redisMissing) console.log(`Redis is left out: ${redisMissing}.\n`);
    else await measureOn(engine, join(folder, engine));
  }
});
