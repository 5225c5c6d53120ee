import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { openEventStoreEventLog } from '#shared/event-log/eventstoredb/eventstore-event-log.ts';
import { startEventStoreProcess } from '../engines/eventstoredb/process.ts';
const N = 4000, FLIGHT = 32;
await using s = await startEventStoreProcess();
const client = EventStoreDBClient.connectionString(s.address);
const log = await openEventStoreEventLog({ url: s.address });
const data = { title: 'A title of some length', body: 'x'.repeat(200), n: 1 };
const metadata = { version: 1, actor: 'user:1', time: new Date().toISOString(), request: randomUUID() };
const run = async (one: () => Promise<unknown>, flight = FLIGHT) => {
  const cpu = process.cpuUsage(); const t = performance.now(); let left = N;
  await Promise.all(Array.from({ length: flight }, async () => { while (left-- > 0) await one(); }));
  const u = process.cpuUsage(cpu); cpus.push((u.user + u.system) / N);
  return N / (performance.now() - t) * 1000;
};
let cpus: number[] = [];
const ours = () => log.append(`thing-${randomUUID()}` as any, 0 as any, [{ id: randomUUID() as any, type: 'thing.noted', data, metadata }]);
const bare = () => client.appendToStream(`thing-${randomUUID()}`, jsonEvent({ id: randomUUID(), type: 'thing.noted', data, metadata }), { expectedRevision: NO_STREAM });
const med = (a: number[]) => a.toSorted((x, y) => x - y)[Math.floor(a.length / 2)];
await run(ours); await run(bare);
cpus = []; const a: number[] = [], b: number[] = [];
for (let i = 0; i < 15; i++) { if (i % 2) { a.push(await run(ours)); b.push(await run(bare)); } else { b.push(await run(bare)); a.push(await run(ours)); } }
console.log('cpu us', cpus.map((x) => x.toFixed(0)).join(' '));
console.log('append ours', med(a).toFixed(0), 'bare', med(b).toFixed(0), 'ratio', (med(a) / med(b)).toFixed(3), a.map((x, i) => (x / b[i]).toFixed(2)).join(' '));
const head = await log.head();
const followOurs = async () => { const t = performance.now(); let n = 0; const c = new AbortController(); for await (const p of log.follow(0 as any, c.signal)) { n += p.length; if (p.at(-1)!.position === head) break; } return n / (performance.now() - t) * 1000; };
const followBare = async () => { const t = performance.now(); let n = 0; let from: any = 'start'; for (;;) { let k = 0; let last: any; for await (const { event } of client.readAll({ fromPosition: from, maxCount: 1000 })) { k++; last = event; } n += k; from = last.position; if (Number(last.position.commit) >= head) break; } return n / (performance.now() - t) * 1000; };
await followOurs(); await followBare();
const c: number[] = [], d: number[] = [];
for (let i = 0; i < 15; i++) { if (i % 2) { c.push(await followOurs()); d.push(await followBare()); } else { d.push(await followBare()); c.push(await followOurs()); } }
console.log('follow ours', med(c).toFixed(0), 'bare', med(d).toFixed(0), 'ratio', (med(c) / med(d)).toFixed(3), c.map((x, i) => (x / d[i]).toFixed(2)).join(' '));
await client.dispose(); await log[Symbol.asyncDispose]();
