import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { fillLog } from './projection-log.ts';
import { copyRows, execute, HEAD, rowsOf, run } from './projection-runs.ts';
import { printTable } from './table.ts';

// How fast a log is proven and replayed: the chain beside it is built, the read model is brought up to date, and then a replay makes all
// rows anew beside it, and `audit verify` reads, decodes and hashes every event, makes the rows anew, folds the deciders, and compares
// all of it row by row. Each in a process with little memory, against COPY of the rows in use, into the same tables with the same indexes,
// all on one PostgreSQL server with its durable settings, at two sizes of the log; the last column compares the cost of an event.
const { values: options } = parseArgs({
  options: { events: { type: 'string', default: '100000,1000000' }, heap: { type: 'string', default: '128' } },
});

const WORKS = ['chain', 'replay', 'verify'] as const;

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using server = await startEmbeddedPostgres({ dataDir });
  const first = new Map<string, number>();
  for (const events of String(options.events).split(',').map(Number)) {
    const url = new URL(server.url);
    url.pathname = `/audit_${events}`;
    await execute(server.url, `create database audit_${events}`);
    await fillLog(url.href, events);
    await run('catch-up', url.href, options.heap);
    await execute(url.href, 'vacuum analyze');
    const copied = await copyRows(url.href);
    const row = rowsOf({ events, copied, first });
    const rows: (readonly string[])[] = [];
    for (const work of WORKS) rows.push(row(work, await run(work, url.href, options.heap)));
    printTable([`${events.toLocaleString('en')} events`, ...HEAD], [...rows, row('COPY of the rows', { seconds: copied })]);
    await execute(server.url, `drop database audit_${events}`);
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
