import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { createProofMint, createTokenMint } from '../test/token-mint.ts';
import { applyLoad, type Load, type Loaded } from './load.ts';
import { startAnnals, startServer } from './processes.ts';
import { printTable } from './table.ts';
import { type Measured, takeTurns } from './turns.ts';

// Tokens per second by client credentials, signed by ES256: Annals as `npm start` runs it, against oidc-provider alone on its memory storage.
// Then what it costs a resource server to check them. The contenders take turns within each round; the tables have the medians.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
  },
});
const [durationMs, rounds, connections] = [Number(options.seconds) * 1_000, Number(options.rounds), Number(options.connections)];

type Entry = { readonly title: string; readonly pid?: number | undefined; load(): Load };

const measure = async (
  title: string,
  entries: readonly Entry[],
  compare: (rate: number, rates: readonly number[]) => string,
): Promise<void> => {
  const contenders = entries.map(({ title: name, pid, load }) => ({
    title: name,
    pid,
    run: (forMs: number) => applyLoad({ ...load(), durationMs: forMs }),
  }));
  const measured = await takeTurns(contenders, { rounds, durationMs });
  const of = (index: number, field: keyof Measured): number => measured.get(contenders[index] as (typeof contenders)[number])?.[field] ?? 0;
  const rates = entries.map((_, index) => of(index, 'rate'));
  printTable(
    [title, 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'compared'],
    entries.map((entry, index) => [
      entry.title,
      Math.round(rates[index] ?? 0).toLocaleString('en'),
      of(index, 'p50Ms').toFixed(2),
      of(index, 'p99Ms').toFixed(2),
      of(index, 'cpuUs').toFixed(0),
      compare(rates[index] ?? 0, rates),
    ]),
  );
};

const tokenLoad = ({ url, clientId, secret }: { url: string; clientId: string; secret: string }): Load => {
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const head = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const body = 'grant_type=client_credentials&scope=read:articles+write:articles';
  return { url: `${url}/token`, method: 'POST', body, connections, durationMs, headers: () => head };
};

const AUDIENCE = 'https://api.example';
/** Each is used once; a proof is good for a minute. */
const MINTED_MAX = 12_000;

const mintMany = async (make: () => Promise<Record<string, string>>): Promise<() => Record<string, string> | undefined> => {
  const minted: Record<string, string>[] = [];
  for (let count = 0; count < MINTED_MAX; count += 100) minted.push(...(await Promise.all(Array.from({ length: 100 }, make))));
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
  const newProof = async () => ({ authorization: `DPoP ${bound}`, dpop: await holder.proof({ token: bound, url: `${AUDIENCE}/checked` }) });
  await measure(
    `a request, ${connections} connections`,
    [
      { title: 'Express alone', pid: server.pid, load: () => ({ ...checked, url: `${server.url}/open`, headers: () => ({}) }) },
      { title: 'with a token seen before', pid: server.pid, load: () => ({ ...checked, headers: () => bearer }) },
    ],
    (rate, [alone = 0]) => `+ ${Math.max(0, 1e6 / rate - 1e6 / alone).toFixed(0)} µs`,
  );
  const firsts: Loaded[] = [await applyLoad({ ...checked, headers: tokens })];
  // Made just before, because a proof is good for a minute.
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

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  {
    await using ours = await startAnnals(dataDir);
    await using bare = await startServer('./bare-provider.ts');
    await measure(
      `tokens, ${connections} connections`,
      [
        { title: 'ours, all roles in one process', pid: ours.pid, load: () => tokenLoad(ours) },
        { title: 'oidc-provider alone, in memory', pid: bare.pid, load: () => tokenLoad(bare) },
      ],
      (rate, [mine = 0]) => `${(mine / rate).toFixed(2)} ×`,
    );
  }
  await using postgres = await startEmbeddedPostgres({ dataDir });
  await measureChecks(postgres.url);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
