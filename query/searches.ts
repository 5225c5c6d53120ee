import type { Registry } from 'prom-client';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { runPrepared } from './statement.ts';

/**
 * Searches for words, which can be a thousand times as dear as any other read: a phrase of frequent words is
 * looked for in the text of every article. So they have few connections of their own, and little time, and
 * nobody else waits for them.
 */
export type Searches = {
  /** On which words are looked for; who waits too long for a connection is told to come again. */
  readonly pool: Pool;
  /** Whether an index helps to find the words. It finds what has words, never what lacks them. */
  isAnswerable(text: string): Promise<boolean>;
};

const CONNECTIONS_MAX = 2;
/** Compiled expressions never pay in statements this short. */
export const UNCOMPILED = { jit: 'off' };
const STATEMENT_TIMEOUT_MS = 1_000;

/** How many units more than another read a search is charged. */
export const SEARCH_UNITS_MORE = 4;

export const UNANSWERABLE = 'Must ask for words that are there, not only for such as are not.';

export const openSearches = ({
  databaseUrl,
  metrics,
}: {
  readonly databaseUrl: string;
  readonly metrics: Registry;
}): Searches & AsyncDisposable => {
  const limits = {
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: UNCOMPILED,
  };
  const pool = openPool({ url: databaseUrl, applicationName: 'annals-search', ...limits });
  observePool(metrics, 'annals-search', pool);
  return { ...searchesOn(pool), [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
};

export const searchesOn = (pool: Pool): Searches => ({
  pool,
  async isAnswerable(text) {
    const [row] = await runPrepared<{ needed: string }>(pool, NEEDED, [text]);
    return row !== undefined && row.needed !== '' && row.needed !== 'T';
  },
});

/**
 * What an index must have of a search: `T` where it says nothing, and nothing where the search says nothing.
 */
const NEEDED = `select querytree(websearch_to_tsquery('simple', $1)) as needed`;

export type ReadConnections = { readonly pool: Pool; readonly searches: Searches };

/** The connections for a list that may be searched by the parameter `q`; refuses what cannot be answered. */
export const poolFor = async ({ pool, searches }: ReadConnections, q: string | undefined): Promise<Pool> => {
  if (q === undefined) return pool;
  if (await searches.isAnswerable(q)) return searches.pool;
  throw new HttpProblem('invalid_parameter', {
    extensions: { errors: [{ parameter: 'q', detail: UNANSWERABLE }] },
  });
};
