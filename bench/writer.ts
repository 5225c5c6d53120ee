import { parseArgs } from 'node:util';
import { CONTENDERS, type ContenderName } from './contenders.ts';

// A process of writers in a closed loop: each appends one event to a new stream, and then the next. It warms
// up, reports that it is ready, starts on a message, and prints its measurement.
const { values } = parseArgs({
  options: {
    contender: { type: 'string' },
    url: { type: 'string' },
    writers: { type: 'string' },
    seconds: { type: 'string' },
  },
});
const [writers, seconds] = [Number(values.writers), Number(values.seconds)];
const contender = CONTENDERS[values.contender as ContenderName];
await using log = await contender.open(String(values.url), writers);

const write = async (untilMs: number, latenciesMs: number[]): Promise<void> => {
  while (performance.now() < untilMs) {
    const startedMs = performance.now();
    await log.append();
    latenciesMs.push(performance.now() - startedMs);
  }
};

const run = async (durationMs: number): Promise<{ rate: number; latenciesMs: number[] }> => {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: writers }, () => write(startedMs + durationMs, latenciesMs)));
  return { rate: latenciesMs.length / ((performance.now() - startedMs) / 1_000), latenciesMs };
};

await run(1_000);
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
const { rate, latenciesMs } = await run(seconds * 1_000);
latenciesMs.sort((a, b) => a - b);
const quantile = (share: number): number =>
  latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0;
process.send?.({ count: latenciesMs.length, rate, p50Ms: quantile(0.5), p99Ms: quantile(0.99) });
process.disconnect?.();
