import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { startEventStoreProcess } from '/work/main/test/engines/eventstoredb/process.ts';

process.on('unhandledRejection', (e) => console.log('UNHANDLED', String(e)));
const s = await startEventStoreProcess();
const c: any = EventStoreDBClient.connectionString(s.address);
const orig = c.GRPCStreamCreator;
let st: any;
c.GRPCStreamCreator = (C: any, n: any, cr: any, cache: any) =>
  orig(
    C,
    n,
    (x: any) => {
      const q = cr(x);
      if (n === 'appendToStream') st = q;
      return q;
    },
    cache,
  );
await c.appendToStream('a-1', jsonEvent({ type: 'x', data: {} }));
await s.signal('SIGSTOP');
const big = 'x'.repeat(+(process.argv[2] ?? 100));
const all = Array.from({ length: 200 }, (_, n) => c.appendToStream(`a-${n}`, jsonEvent({ type: 'x', data: { big } })));
const r = Promise.allSettled(all);
setTimeout(() => {
  console.log(
    'len',
    st.writableLength,
    st.writableNeedDrain,
    st.listenerCount('error'),
    st.listenerCount('drain'),
    st.listeners('error').map(String),
  );
  s.signal('SIGKILL');
}, 300);
await Promise.race([r, new Promise((r) => setTimeout(r, 3000, 'HUNG'))]);
console.log('len', st.writableLength, st.destroyed, st.listenerCount('error'), st.listenerCount('drain'));
await new Promise((r) => setTimeout(r, 200));
process.exit();
