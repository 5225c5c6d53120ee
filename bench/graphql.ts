import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { LIST, NESTED, POINT } from './graphql/queries.ts';
import { applyLoad, type Load, type Loaded } from './load.ts';
import { median, printTable } from './table.ts';

// GraphQL reads per second, each contender in a process of its own on the same database, one after the other within each round.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    scale: { type: 'string', default: '1' },
    contenders: { type: 'string', default: 'planner,json-agg' },
    reads: { type: 'string', default: 'nested,nested by many,point,list' },
    connections: { type: 'string', default: '1,32' },
    pool: { type: 'string', default: '4' },
  },
});
const [durationMs, rounds, scale] = [Number(options.seconds) * 1_000, Number(options.rounds), Number(options.scale)];
const SIZE: Size = { users: 1_000 * scale, articles: 10_000 * scale, comments: 60_000 * scale };

type Read = { body(count: number): string; head(count: number): Record<string, string> };
const JSON_HEAD = { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' };
const same = (query: string): Read => ({ body: () => JSON.stringify({ query }), head: () => JSON_HEAD });
const user = (count: number): number => FIRST_ID.users + ((count * 7_919) % SIZE.users);
const READS: Readonly<Record<string, Read>> = {
  nested: same(NESTED),
  // Each by another author, so that no two answers can be shared.
  'nested by many': { ...same(NESTED), head: (count) => ({ ...JSON_HEAD, authorization: String(user(count)) }) },
  point: { body: (count) => JSON.stringify({ query: POINT, variables: { id: String(user(count)) } }), head: () => JSON_HEAD },
  list: same(LIST),
};

const END_MS = 10_000;
const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await exited;
  clearTimeout(timer);
};

const start = async (name: string, url: string) => {
  const child = fork(new URL(`./graphql/${name}.ts`, import.meta.url), [url, options.pool]);
  const [message] = await once(child, 'message');
  return { name, url: String(message.url), [Symbol.asyncDispose]: () => stop(child) };
};

const loadOf = (url: string, read: Read, connections: number): Load => {
  let count = 0;
  return {
    url,
    connections,
    durationMs,
    method: 'POST',
    body: () => read.body(count),
    headers: () => {
      count += 1;
      return read.head(count);
    },
  };
};

const measure = async (name: string, connections: number, contenders: readonly { name: string; url: string }[]): Promise<void> => {
  const read = READS[name];
  if (read === undefined) throw new Error(`there is no read ${name}`);
  const runs = new Map<string, Loaded[]>(contenders.map((contender) => [contender.name, []]));
  for (const { url } of contenders) await applyLoad({ ...loadOf(url, read, connections), durationMs: 1_000 });
  for (let round = 0; round < rounds; round += 1)
    for (const contender of contenders) runs.get(contender.name)?.push(await applyLoad(loadOf(contender.url, read, connections)));
  const of = (contender: string, field: keyof Loaded): number => median(runs.get(contender)?.map((run) => run[field]) ?? []);
  printTable(
    [`${name}, ${connections} connections`, 'per second', 'p50 ms', 'p99 ms', 'ours is'],
    contenders.map((contender) => [
      contender.name,
      Math.round(of(contender.name, 'rate')).toLocaleString('en'),
      of(contender.name, 'p50Ms').toFixed(2),
      of(contender.name, 'p99Ms').toFixed(2),
      `${(of(contenders[0]?.name ?? '', 'rate') / of(contender.name, 'rate')).toFixed(2)} ×`,
    ]),
  );
};

/** Whoever answers something else does other work. */
const compareAnswers = async (contenders: readonly { name: string; url: string }[]): Promise<void> => {
  for (const query of [NESTED, LIST]) {
    const answers = await Promise.all(
      contenders.map(async ({ url }) => {
        const response = await fetch(url, { method: 'POST', headers: JSON_HEAD, body: JSON.stringify({ query }) });
        return JSON.stringify(await response.json());
      }),
    );
    for (const [index, answer] of answers.entries())
      if (answer !== answers[0])
        throw new Error(`${contenders[index]?.name} answers ${answer.slice(0, 500)}\nand not ${answers[0]?.slice(0, 500)}`);
  }
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using postgres = await startEmbeddedPostgres({ dataDir });
  {
    await using pool = openPool({ url: postgres.url, applicationName: 'bench', connectionsMax: 1, statementTimeoutMs: 600_000 });
    await writeData(pool, SIZE);
  }
  await using running = new AsyncDisposableStack();
  const contenders: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of options.contenders.split(',')) contenders.push(running.use(await start(name, postgres.url)));
  await compareAnswers(contenders);
  for (const read of options.reads.split(','))
    for (const connections of options.connections.split(',')) await measure(read, Number(connections), contenders);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
