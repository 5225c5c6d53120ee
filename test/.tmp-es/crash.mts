import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { startEventStoreProcess } from '/work/main/test/engines/eventstoredb/process.ts';

process.on('unhandledRejection', (e) => console.log('UNHANDLED', String(e)));
process.on('uncaughtException', (e) => console.log('UNCAUGHT', String(e)));
const s = await startEventStoreProcess();
const c = EventStoreDBClient.connectionString(s.address);
await c.appendToStream('a-1', jsonEvent({ type: 'x', data: {} }));
await s.signal('SIGSTOP');
const big = 'x'.repeat(+(process.argv[2] ?? 100));
const all = Array.from({ length: 200 }, (_, n) => c.appendToStream(`a-${n}`, jsonEvent({ type: 'x', data: { big } })));
const r = Promise.allSettled(all);
setTimeout(() => s.signal('SIGKILL'), 300);
const out = await Promise.race([r, new Promise((r) => setTimeout(r, 3000, 'HUNG'))]);
console.log(out === 'HUNG' ? out : new Set((out as any[]).map((o) => `${o.status}:${o.reason?.type ?? o.reason?.code}`)));
await new Promise((r) => setTimeout(r, 200));
process.exit();
