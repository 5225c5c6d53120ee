import { formatKey, parseKey } from '#edge/rest/pages.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import type { FieldChange, HistoryEntry } from '#kernel/base/rest/history.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { isAuditor } from '../../time-travel/auditor.ts';
import { boundsIn } from './connections.ts';
import type { Context, Resolver } from './context.ts';
import { type Row, sourceOfType } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * A connection (GraphQL Cursor Connections Specification) of the history of an aggregate, up to the point in
 * time of its row.
 */
export const history = async (row: Row, args: Arguments, context: Context) => {
  const { domain, caller, loaders, past, readHistory, facts, isSubscription } = context;
  const { id } = row;
  const source = sourceOfType(domain, row.__typename);
  const kind = source.kind.name;
  if (isSubscription) throw refused('Subscriptions have no histories: use a query.');
  // Deleted users stay as authors, but nobody may read anything else of them.
  if (!isAuditor(caller, source.right) && !(await loaders.isReadable(row)))
    throw new Rejection(notFound(kind));
  const list = `history of ${row.__typename} ${id}`;
  const bounds = boundsIn(args, (cursor) => parseKey<number>(list, 'number', String(cursor)));
  const { after: below, before: above, isBackward: isUpward, size: limit } = bounds;
  const places = { below, above, isUpward, limit };
  const page = await readHistory({ kind, id, caller, charge: facts.charge, upTo: past?.position }, places);
  const edges = page.entries.map((entry) => ({
    cursor: formatKey(list, entry.version),
    node: nodeOf(entry),
  }));
  // A page may also resume at the last version examined, which need not be an entry.
  const edge = page.isFull ? undefined : formatKey(list, page.lookedAt);
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: isUpward ? above !== undefined : page.hasMore,
      hasPreviousPage: isUpward ? page.hasMore : below !== undefined,
      startCursor: (isUpward && edge) || (edges[0]?.cursor ?? null),
      endCursor: (!isUpward && edge) || (edges.at(-1)?.cursor ?? null),
    },
  };
};

/** The file that proves an item, up to the point in time of its row. */
export const itemProof = async (row: Row, _args: Arguments, context: Context): Promise<string> => {
  const { domain, caller, past, facts, isSubscription } = context;
  const { kind } = sourceOfType(domain, row.__typename);
  if (isSubscription) throw refused('Subscriptions have no proofs: use a query.');
  const reader = { caller, id: String(row.id), charge: facts.charge };
  return proofsIn(context).ofItem(kind.name, reader, past?.position);
};

/** The file that proves an event of a history. */
export const eventProof = ({ id }: HistoryEntry, _args: Arguments, context: Context): Promise<string> =>
  proofsIn(context).ofEvent(context.caller, id);

const proofsIn = ({ proofs }: Context): NonNullable<Context['proofs']> => {
  if (proofs === undefined) throw new Error('The proof is not served, and nevertheless in the schema');
  return proofs;
};

const refused = (detail: string): HttpProblem => new HttpProblem('invalid_parameter', { detail });

const nodeOf = ({ changes, erased, unreadable, ...entry }: HistoryEntry) => ({
  ...entry,
  erased: erased === true,
  unreadable: unreadable === true,
  changes: changes.map(changeOf),
});

const changeOf = ({ truncated, ...change }: FieldChange) => ({ ...change, truncated: truncated === true });

/** The ledger of deliveries has current states only. */
export const currentOnly =
  (resolve: Resolver): Resolver =>
  (parent, args, context, key) => {
    if (context.past) throw refused('Deliveries are not available with `at`.');
    return resolve(parent, args, context, key);
  };
