import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { createDatabase, postmasterOf } from './database.ts';
import { numbersOf, readOptions } from './options.ts';
import { startAnnals, tokenOf } from './processes.ts';
import { runBench } from './run-bench.ts';
import { printTable } from './table.ts';
import { cpuUsOfDatabase, statOf } from './turns.ts';

// Counts the statements that reach PostgreSQL, as its own log of them shows: for a single write, one after
// the other, and for a second in which nobody does anything. Beside each, the CPU time.
const options = readOptions({
  writes: ['40', '10'],
  // Between two writes, in milliseconds.
  apart: ['500', '300'],
  // How long nobody does anything, in seconds; after as many seconds for everything to come to rest.
  idle: ['20', '5'],
  // The most frequent statements to show.
  show: ['25', '10'],
  // The folder of another checkout.
  root: ['', ''],
});
const NEW = JSON.stringify({
  title: 'On engines',
  body: 'An analytical one. '.repeat(12),
  tags: ['engines'],
});
const [WRITES = 0] = numbersOf(options.writes);
const [APART_MS = 0] = numbersOf(options.apart);
const [IDLE_S = 0] = numbersOf(options.idle);
const [SHOW = 0] = numbersOf(options.show);

const STATEMENT = /^([\w-]*)\|.*?(?:statement|execute [^:]*): (.*)$/;

/** The statements so far, each with the name of the connections that sent it. */
const readStatements = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
    const [, application, text] = STATEMENT.exec(line) ?? [];
    return text === undefined ? [] : [`${application}: ${text.slice(0, SHOWN_CHARACTERS)}`];
  });
const SHOWN_CHARACTERS = 110;

type Look = {
  readonly statements: readonly string[];
  /** How often PostgreSQL has waited for the disk to keep its WAL. */
  readonly flushes: number;
  readonly ours: number;
  readonly database: number;
};

const FLUSHES = `select sum(fsyncs)::integer as flushes from pg_stat_io where object = 'wal' and backend_type = 'client backend'`;

await runBench(async (folder) => {
  await using server = await startEmbeddedPostgres({
    dataDir: folder,
    settings: {
      log_statement: 'all',
      log_line_prefix: '%a|',
    },
  });
  const databaseUrl = await createDatabase(server.url, 'ours');
  await using ours = await startAnnals(
    join(folder, 'annals'),
    { DATABASE_URL: databaseUrl },
    { root: options.root === '' ? undefined : options.root },
  );
  const postmaster = await postmasterOf(databaseUrl);
  await using pool = openPool({ url: databaseUrl, applicationName: 'looking', connectionsMax: 1 });
  const look = async (): Promise<Look> => ({
    flushes: (await pool.query<{ flushes: number }>(FLUSHES)).rows[0]?.flushes ?? 0,
    statements: await readStatements(join(folder, 'postgres.log')),
    ours: (await statOf(ours.pid)).cpuUs,
    database: await cpuUsOfDatabase(postmaster),
  });
  const report = (title: string, before: Look, after: Look, count: number): void => {
    const statements = after.statements.slice(before.statements.length);
    const counted = new Map<string, number>();
    for (const text of statements) counted.set(text, (counted.get(text) ?? 0) + 1);
    printTable(
      [title, 'statements', 'WAL flushes', 'CPU ms', 'of PostgreSQL'],
      [
        [
          '',
          (statements.length / count).toFixed(1),
          ((after.flushes - before.flushes) / count).toFixed(2),
          ((after.ours - before.ours) / count / 1_000).toFixed(2),
          ((after.database - before.database) / count / 1_000).toFixed(2),
        ],
      ],
    );
    printTable(
      ['times', 'statement'],
      [...counted]
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, SHOW)
        .map(([text, times]) => [(times / count).toFixed(2), text]),
    );
  };
  const write = async () => {
    const authorization = `Bearer ${await tokenOf(ours, 'write:articles')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    for (let written = 0; written < WRITES; written += 1) {
      const answer = await fetch(`${ours.url}/articles`, { method: 'POST', headers, body: NEW });
      if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
      await delay(APART_MS);
    }
  };
  await write();
  await delay(IDLE_S * 1_000);
  const begun = await look();
  await delay(IDLE_S * 1_000);
  const rested = await look();
  report('an idle second', begun, rested, IDLE_S);
  const before = await look();
  await write();
  report(`a write, ${APART_MS} ms apart`, before, await look(), WRITES);
});
