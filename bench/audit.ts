import { createDatabase, execute } from './database.ts';
import { numbersOf, readOptions } from './options.ts';
import { fillLog } from './projection-log.ts';
import { measureWorks, run } from './projection-runs.ts';
import { runBenchOnPostgres } from './run-bench.ts';

// Measures how fast a log is proven and replayed. First the chain is built and the read model brought up to
// date. Then a replay builds all rows again beside it, and `audit verify` reads, decodes and hashes every
// event, builds the rows again, folds the deciders, and compares everything row by row. Each runs in a
// process with little memory, against COPY of the current rows into the same tables with the same indexes,
// all on one PostgreSQL server with its durable settings, at two sizes of the log. The last column compares
// the cost of an event.
const options = readOptions({
  events: ['100000,1000000', '30000'],
  rounds: ['1', '3'],
  heap: ['128', '128'],
});

const WORKS = { chain: 'chain', replay: 'replay', verify: 'audit verify' };

await runBenchOnPostgres(async (serverUrl) => {
  for (const events of numbersOf(options.events)) {
    const template = `audit_${events}`;
    const url = await createDatabase(serverUrl, template);
    await fillLog(url, events);
    await run('catch-up', url, options.heap);
    await execute(url, 'vacuum analyze');
    await measureWorks(WORKS, {
      serverUrl,
      template,
      events,
      rounds: Number(options.rounds),
      heapMegabytes: options.heap,
    });
    await execute(serverUrl, `drop database ${template}`);
  }
});
