import { readKeyedList } from '#edge/rest/pages.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { ReadingOfUser } from '#kernel/base/rest/readers.ts';
import { operationOf, READERS } from '#kernel/conditions/rights.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, mayAlways } from '#shared/policy.ts';
import { listReadersOf, listReadsOf, type StoredEntry } from '#shared/read-log/entries.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { resourceIn } from '../kinds/rows.ts';
import type { KindReads } from '../reads/reads.ts';
import type { AnyReads, Reader } from '../rest/read-routes.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { readFailureOf } from '../rows/statement.ts';
import { noteReaders, readingOf } from './reading.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly kinds: Pick<KindReads, 'find'>;
};

type Page = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

/** The readers of an aggregate, and the reads of a user. Reading the log is logged, too. */
export const readLogReads = (dependencies: Dependencies): AnyReads => ({
  ...Object.fromEntries(
    ofAggregates(dependencies.domain).flatMap(([id, { use }]) =>
      use.does === 'readers' ? [[id, readersOf(dependencies, use.kind)] as const] : [],
    ),
  ),
  listReadsOfUser: readsOfUser(dependencies),
});

const readersOf = ({ domain, pool, kinds }: Dependencies, kind: Kind) => {
  const source = demandSource(sourcesOf(domain), kind.name);
  const right = operationOf(kind, READERS);
  const note = noteReaders(kind);
  const find = kinds.find(kind.name);
  /** Callers who may always read the readers see those of deleted items, too. */
  const demand = async (caller: Caller, given: string): Promise<number> => {
    const id = pathId(given);
    if (id === undefined) throw new Rejection(notFound(kind.name));
    if (!mayAlways(caller, right)) await find(id, (row) => may(caller, right, resourceIn(source, row)));
    return id;
  };
  return async ({ caller, id: given }: Reader, asked: Page): Promise<ListAnswer> => {
    const id = await demand(caller, given);
    note(id);
    return readKeyedList<StoredEntry, number>({
      path: `/${kind.path}/${id}/readers`,
      asked: pageIn(asked),
      kindOfKey: 'number',
      keyOf: ({ number }) => number,
      read: (stretch) => listReadersOf(pool, { kind: kind.name, id }, stretch).catch(asFailure),
      represent: readingOf,
    });
  };
};

const readsOfUser = ({ domain, pool }: Dependencies) => {
  const notes = new Map(Object.values(domain.kinds).map((kind) => [kind.name, noteReaders(kind)]));
  return async ({ caller, id: given }: Reader, asked: Page): Promise<ListAnswer> => {
    if (!mayAlways(caller, 'events.export')) throw new Rejection('forbidden');
    const id = pathId(given);
    if (id === undefined) throw new Rejection('user_not_found');
    return readKeyedList<StoredEntry, number>({
      path: `/users/${id}/reads`,
      asked: pageIn(asked),
      kindOfKey: 'number',
      keyOf: ({ number }) => number,
      read: (stretch) => listReadsOf(pool, id, stretch).catch(asFailure),
      represent(entry): ReadingOfUser {
        const { kind, items } = entry.entry;
        for (const item of items) notes.get(kind)?.(item);
        return { ...readingOf(entry), kind, items: [...items] };
      },
    });
  };
};

const pageIn = ({ limit, after, before }: Page): Page & Readonly<Record<string, never>> =>
  ({ limit, after, before }) as Page & Readonly<Record<string, never>>;

const asFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};
