import { startEmbeddedPostgres } from '../adapters/embedded-postgres/embedded.ts';
import { createProofMint, createTokenMint } from '../test/token-mint.ts';
import { applyLoad, type Load, type Loaded } from './load.ts';
import { readOptions, turnsOf } from './options.ts';
import { startAnnals, startServer } from './processes.ts';
import { runBench } from './run-bench.ts';
import { printTable } from './table.ts';
import { takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Measures tokens per second by client credentials, signed by ES256: Annals as `npm start` runs it, against
// oidc-provider alone on its memory storage. Then measures their verification by a resource server. The
// contenders take turns within each round; the tables have the medians.
const options = readOptions({
  seconds: ['4', '0.7'],
  rounds: ['3', '5'],
  connections: ['32', '32'],
  // Each token is used once.
  minted: ['12000', '3000'],
});
const connections = Number(options.connections);
const { durationMs } = turnsOf(options);

type Entry = { readonly title: string; readonly pid: number | undefined; load(): Load };

const measure = async (name: string, entries: readonly Entry[]): Promise<void> => {
  const contenders = entries.map(({ title, pid, load }) => ({
    title,
    pid,
    run: (forMs: number) => applyLoad({ ...load(), durationMs: forMs }),
  }));
  printTurns(name, name, await takeTurns(contenders, turnsOf(options)));
};

const tokenLoad = ({ url, clientId, secret }: { url: string; clientId: string; secret: string }): Load => {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const head = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const body = 'grant_type=client_credentials&scope=read:articles+write:articles';
  return { url: `${url}/token`, method: 'POST', body, connections, durationMs, headers: () => head };
};

const AUDIENCE = 'https://api.example';

const mintMany = async (
  make: () => Promise<Record<string, string>>,
): Promise<() => Record<string, string> | undefined> => {
  const minted: Record<string, string>[] = [];
  for (let count = 0; count < Number(options.minted); count += 100)
    minted.push(...(await Promise.all(Array.from({ length: 100 }, make))));
  return () => minted.pop();
};

const measureChecks = async (databaseUrl: string): Promise<void> => {
  const mint = await createTokenMint();
  const holder = await createProofMint();
  const claims = { iss: AUDIENCE, aud: AUDIENCE };
  await using server = await startServer('./resource-process.ts', [
    `--url=${databaseUrl}`,
    `--jwks=${JSON.stringify(mint.jwks)}`,
    `--audience=${AUDIENCE}`,
  ]);
  const bearer = { authorization: `Bearer ${await mint.token(claims)}` };
  const bound = await mint.token({ ...claims, cnf: { jkt: holder.jkt } });
  const checked = { url: `${server.url}/checked`, connections, durationMs };
  const tokens = await mintMany(async () => ({ authorization: `Bearer ${await mint.token(claims)}` }));
  const newProof = async () => ({
    authorization: `DPoP ${bound}`,
    dpop: await holder.proof({ token: bound, url: `${AUDIENCE}/checked` }),
  });
  await measure(`a request, ${connections} connections`, [
    {
      title: 'ours, with a token seen before',
      pid: server.pid,
      load: () => ({ ...checked, headers: () => bearer }),
    },
    {
      title: 'Express alone',
      pid: server.pid,
      load: () => ({ ...checked, url: `${server.url}/open`, headers: () => ({}) }),
    },
  ]);
  const firsts: Loaded[] = [await applyLoad({ ...checked, headers: tokens })];
  // Made just before, because a proof is valid for a minute.
  const proofs = await mintMany(newProof);
  firsts.push(await applyLoad({ ...checked, headers: proofs }));
  printTable(
    ['a request, once', 'per second', 'p50 ms', 'p99 ms'],
    firsts.map(({ rate, p50Ms, p99Ms }, index) => [
      index === 0 ? 'with a new token' : 'with a DPoP proof (PostgreSQL remembers it)',
      Math.round(rate).toLocaleString('en'),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
    ]),
  );
};

await runBench(async (dataDir) => {
  {
    await using ours = await startAnnals(dataDir);
    await using bare = await startServer('./bare-provider.ts');
    await measure(`tokens, ${connections} connections`, [
      { title: 'ours, all roles in one process', pid: ours.pid, load: () => tokenLoad(ours) },
      { title: 'oidc-provider alone, in memory', pid: bare.pid, load: () => tokenLoad(bare) },
    ]);
  }
  await using postgres = await startEmbeddedPostgres({ dataDir });
  await measureChecks(postgres.url);
});
