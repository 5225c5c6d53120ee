import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { HISTORIES, type HistoryName } from './histories.ts';
import { fillLog } from './projection-log.ts';
import { copyRows, execute, HEAD, rowsOf, run } from './projection-runs.ts';
import { printTable } from './table.ts';

// How fast the read model follows from the log: the live projector that starts from nothing, and a rebuild beside it, each in a process with
// little memory, against COPY of the rows that they come to, into the same tables with the same indexes. All on one PostgreSQL server with its
// durable settings, at two sizes of the log; the last column compares the cost of an event. --domain expenses: claims with items, totals and a view;
// expenses-without-views and expenses-two-views: the same events for no view and for one more. What of the processor an event costs is the same on a
// machine that does other things as well.
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '100000,1000000' },
    heap: { type: 'string', default: '96' },
    domain: { type: 'string', default: 'publishing' },
  },
});
const name = options.domain as HistoryName;
if (!Object.hasOwn(HISTORIES, name)) throw new Error(`--domain is one of ${Object.keys(HISTORIES).join(', ')}`);

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using server = await startEmbeddedPostgres({ dataDir });
  const first = new Map<string, number>();
  for (const events of String(options.events).split(',').map(Number)) {
    const url = new URL(server.url);
    url.pathname = `/events_${events}`;
    await execute(server.url, `create database events_${events}`);
    await fillLog(url.href, events, name);
    const caughtUp = await run('catch-up', url.href, options.heap, name);
    const rebuilt = await run('rebuild', url.href, options.heap, name);
    const copied = await copyRows(url.href, name);
    const row = rowsOf({ events, copied, first });
    printTable(
      [`${events.toLocaleString('en')} events`, ...HEAD],
      [row('catch-up of the live projector', caughtUp), row('rebuild', rebuilt), row('COPY of the same rows', { seconds: copied })],
    );
    await execute(server.url, `drop database events_${events}`);
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
