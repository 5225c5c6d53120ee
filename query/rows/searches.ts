import type { Registry } from 'prom-client';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { runPrepared } from './statement.ts';

/**
 * Full-text searches. They can cost a thousand times as much as any other read: a phrase of frequent words is
 * compared with the text of every article. So they have a few connections of their own and a short timeout,
 * and delay no other read.
 */
export type Searches = {
  /** The connections for searches. A search that waits too long for one is refused and may retry. */
  readonly pool: Pool;
  /**
   * True if an index helps to find the words. An index finds rows that have words, never rows that lack them.
   */
  isAnswerable(text: string): Promise<boolean>;
};

const CONNECTIONS_MAX = 2;
/** Compiling expressions (JIT) never pays in statements this short. */
export const UNCOMPILED = { jit: 'off' };
const STATEMENT_TIMEOUT_MS = 1_000;

/** The units that a search costs beyond those of another read. */
export const SEARCH_UNITS_MORE = 4;

export const UNANSWERABLE = 'Must have at least one word or phrase without a minus.';

export const openSearches = ({
  databaseUrl,
  metrics,
  clock,
}: {
  readonly databaseUrl: string;
  readonly metrics: Registry;
  readonly clock: Clock;
}): Searches & AsyncDisposable => {
  const limits = {
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: UNCOMPILED,
    clock,
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
 * The words that an index must contain for this search: `T` if any row may match, empty if the search is
 * empty.
 */
const NEEDED = `select querytree(websearch_to_tsquery('simple', $1)) as needed`;

export type ReadConnections = { readonly pool: Pool; readonly searches: Searches };

/** The connections for a list with an optional search `q`; refuses a search that no index can answer. */
export const poolFor = async ({ pool, searches }: ReadConnections, q: string | undefined): Promise<Pool> => {
  if (q === undefined) return pool;
  if (await searches.isAnswerable(q)) return searches.pool;
  throw new HttpProblem('invalid_parameter', {
    extensions: { errors: [{ parameter: 'q', detail: UNANSWERABLE }] },
  });
};
