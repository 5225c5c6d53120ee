import { createDatabase, execute } from './database.ts';
import { HISTORIES, type HistoryName } from './histories.ts';
import { numbersOf, readOptions } from './options.ts';
import { fillLog } from './projection-log.ts';
import { measureWorks } from './projection-runs.ts';
import { runBenchOnPostgres } from './run-bench.ts';

// Measures how fast the read model follows the log: the live projector from nothing, and a rebuild beside it,
// each in a process with little memory, against COPY of the resulting rows into the same tables with the same
// indexes. All run on one PostgreSQL server with its durable settings, at two sizes of the log. The last
// column compares the cost of an event. --domain expenses: claims with items, totals and a view;
// expenses-without-views and expenses-two-views: the same events with no view and with one more. The CPU time
// of an event does not depend on other load on the machine.
const options = readOptions({
  events: ['100000,1000000', '30000'],
  rounds: ['1', '3'],
  heap: ['96', '96'],
  domain: ['publishing', 'publishing'],
});
const domain = options.domain as HistoryName;
if (!Object.hasOwn(HISTORIES, domain))
  throw new Error(`--domain is one of ${Object.keys(HISTORIES).join(', ')}`);

const WORKS = { 'catch-up': 'catch-up of the live projector', rebuild: 'rebuild' };

await runBenchOnPostgres(async (serverUrl) => {
  for (const events of numbersOf(options.events)) {
    const template = `events_${events}`;
    await fillLog(await createDatabase(serverUrl, template), events, domain);
    await measureWorks(WORKS, {
      serverUrl,
      template,
      events,
      rounds: Number(options.rounds),
      heapMegabytes: options.heap,
      domain,
    });
    await execute(serverUrl, `drop database ${template}`);
  }
});
