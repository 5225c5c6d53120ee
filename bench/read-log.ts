import { join } from 'node:path';
import { createDatabase, postmasterOf } from './database.ts';
import { applyLoad } from './load.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { startAnnals, tokenOf } from './processes.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { type Contender, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Measures what `reads: 'logged'` adds to a read: the same domain with it and without, each in a process and on a
// database of its own, in turns. Answers wait for their entries, so one connection shows the whole delay.
const options = readOptions({
  seconds: ['3', '1'],
  rounds: ['9', '5'],
  items: ['500', '200'],
  reads: ['item,list,graphql', 'item,list'],
  connections: ['1,32', '1,32'],
});

const TITLES: Readonly<Record<string, string>> = { logged: 'ours', plain: 'without the log of reads' };
const TOGETHER = 20;
const SCOPE = 'read:notes write:notes';

type Running = Awaited<ReturnType<typeof startAnnals>> & { readonly title: string };

const fill = async ({ url }: Running, token: string): Promise<readonly number[]> => {
  const ids: number[] = [];
  const write = async (index: number): Promise<void> => {
    const response = await fetch(`${url}/notes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ title: `Note ${index}`, room: 'A 12', urgency: 'low', pulse: 60, days: 3, place: 'Zürich' },
        text: 'He can move his fingers. '.repeat(10),
      }),
    });
    if (response.status !== 201) throw new Error(`no note: ${await response.text()}`);
    ids.push(((await response.json()) as { readonly id: number }).id);
  };
  const all = Array.from({ length: Number(options.items) }, (_, index) => index);
  while (all.length > 0) await Promise.all(all.splice(0, TOGETHER).map(write));
  return ids;
};

const READS: Readonly<Record<string, (id: number) => string>> = {
  item: (id) => `/notes/${id}`,
  list: () => '/notes?limit=20',
  graphql: (id) =>
    `/graphql?query=${encodeURIComponent(`{ note(id: "${id}") { title room urgency pulse days place text } }`)}`,
};

type Filled = { readonly server: Running; readonly ids: readonly number[] };

const contenderOf = (
  { server, ids }: Filled,
  pathOf: (id: number) => string,
  connections: number,
): Contender => ({
  title: server.title,
  pid: server.pid,
  async run(durationMs) {
    const authorization = `Bearer ${await tokenOf(server, SCOPE)}`;
    let count = 0;
    const path = (): string => {
      count += 1;
      return pathOf(ids[count % ids.length] as number);
    };
    return applyLoad({
      url: () => server.url + path(),
      connections,
      durationMs,
      headers: () => ({ authorization }),
    });
  },
});

await runBenchOnPostgres(async (serverUrl, folder) => {
  await using running = new AsyncDisposableStack();
  const filled: Filled[] = [];
  for (const [name, title] of Object.entries(TITLES)) {
    const started = running.use(
      await startAnnals(join(folder, name), {
        DATABASE_URL: await createDatabase(serverUrl, `read_log_${name}`),
        DOMAIN_FILE: `bench/read-log/${name}.ts`,
      }),
    );
    const server = { ...started, title };
    filled.push({ server, ids: await fill(server, await tokenOf(server, SCOPE)) });
  }
  const postmasterPid = await postmasterOf(serverUrl);
  for (const read of listOf(options.reads))
    for (const connections of numbersOf(options.connections)) {
      const pathOf = READS[read];
      if (pathOf === undefined) throw new Error(`there is no read ${read}`);
      const contenders = filled.map((each) => contenderOf(each, pathOf, connections));
      const name = `A logged ${read}, ${connections} connections`;
      printTurns(name, name, await takeTurns(contenders, { ...turnsOf(options), postmasterPid }));
    }
});
