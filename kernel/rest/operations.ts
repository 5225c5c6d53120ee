import * as z from 'zod';
import { capital, oneOf, spaced } from '../base/names.ts';
import { atOfList, ItemAt } from '../base/rest/at.ts';
import { HISTORY } from '../base/rest/history-operations.ts';
import { ITEM_PROOF } from '../base/rest/item-proof-operations.ts';
import { idParameter, PAGE, search, sortBy } from '../base/rest/lists.ts';
import { READERS_OPERATION } from '../base/rest/readers-operations.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import { operationOf, READERS } from '../conditions/rights.ts';
import { serves } from '../registry/parts.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { aggregateOf } from './aggregate-operations.ts';
import { filesOf } from './files.ts';
import { filtersByFields } from './filters.ts';
import { listOperations } from './lists.ts';
import { type AggregateOperation, collectionPath, itemPath, type Named, parentOf } from './operation.ts';
import { itemSchema } from './schemas.ts';
import { writesOf } from './writes.ts';

/**
 * The REST interface to the aggregates of a domain, derived from their declarations. The kernel itself serves
 * the reads of users.
 */
export const aggregateOperations = (domain: Domain): Readonly<Record<string, AggregateOperation>> => {
  const kinds = Object.values(domain.kinds).filter((kind) => !isUser(kind));
  const { user } = domain.kinds;
  const ofUsers = user === undefined ? [] : [...writesOf(domain, user), ...listOperations(domain, user)];
  const ofKinds = kinds.flatMap((kind) => [
    ...readsOf(domain, kind),
    ...writesOf(domain, kind),
    ...listOperations(domain, kind),
    ...filesOf(domain, kind, kinds),
  ]);
  const operations = [...ofUsers, ...ofKinds];
  demandOnce(operations);
  return Object.fromEntries(operations);
};

const demandOnce = (operations: readonly Named[]): void => {
  const owners = new Map<string, Kind>();
  for (const [id, { method, path, use }] of operations)
    for (const name of [id, `${method} ${path}`]) {
      const owner = owners.get(name);
      if (owner !== undefined)
        throw new StartRefused(
          `${use.kind.name}: the operation ${name} already belongs to ${owner.name}: give a command, a list or a plural another name.`,
        );
      owners.set(name, use.kind);
    }
};

const readsOf = (domain: Domain, kind: Kind): readonly Named[] => {
  const { name, plural, owner } = kind;
  const [Kinds, words] = [capital(plural), spaced(plural)];
  const parent = parentOf(domain, kind);
  const read = { method: 'GET', role: 'query', right: operationOf(kind, 'read') } as const;
  const page = {
    status: 200,
    description: `A page of ${words}.`,
    kind: 'list',
    get schema() {
      return itemSchema(domain, kind);
    },
  } as const;
  const asked = z.strictObject({ ...PAGE, ...filtersOf(kind), at: atOfList });
  const isOfUsers = owner !== undefined && parent === undefined;
  const list: AggregateOperation = {
    ...read,
    path: collectionPath(domain, kind),
    summary:
      parent === undefined ? `The ${words} that you may read` : `The ${words} of ${oneOf(parent.name)}`,
    query: isOfUsers ? asked.extend({ [owner]: idParameter.optional() }) : asked,
    answer: page,
    use: { kind, does: 'list' },
  };
  const listOfUser: AggregateOperation = {
    ...read,
    path: `/users/{userId}/${kind.path}`,
    summary: `The ${words} of a user that you may read`,
    query: asked,
    answer: page,
    use: { kind, does: 'listOfUser' },
  };
  const item: AggregateOperation = {
    ...read,
    path: itemPath(kind),
    summary: capital(oneOf(name)),
    query: ItemAt,
    answer: {
      status: 200,
      description: `The ${spaced(name)}.`,
      kind: 'item',
      get schema() {
        return itemSchema(domain, kind);
      },
    },
    use: { kind, does: 'read' },
  };
  const lists: readonly Named[] = [
    [`list${Kinds}`, list],
    ...(isOfUsers ? [[`list${Kinds}OfUser`, listOfUser] as const] : []),
  ];
  return [
    ...lists,
    // Before the item, of whose path theirs could be one.
    ...(serves(domain, 'aggregates') ? lists.map((each) => aggregateOf(domain, each)) : []),
    [`get${capital(name)}`, item],
    ...logOf(domain, kind),
  ];
};

/** Reads of the history of an item, its readers and its proof. */
const logOf = (domain: Domain, kind: Kind): readonly Named[] => {
  const { name } = kind;
  const history: AggregateOperation = {
    ...HISTORY,
    path: `${itemPath(kind)}/history`,
    summary: `The history of ${oneOf(name)}, as far as you may read it`,
    use: { kind, does: 'history' },
  };
  const proof: AggregateOperation = {
    ...ITEM_PROOF,
    path: `${itemPath(kind)}/proof`,
    summary: `A proof of ${oneOf(name)}, which a stranger can check`,
    use: { kind, does: 'proof' },
  };
  const readers: AggregateOperation = {
    ...READERS_OPERATION,
    right: operationOf(kind, READERS),
    path: `${itemPath(kind)}/readers`,
    summary: `The readers of ${oneOf(name)}`,
    use: { kind, does: 'readers' },
  };
  return [
    [`list${capital(name)}History`, history],
    ...(kind.reads === undefined ? [] : [[`list${capital(name)}Readers`, readers] as const]),
    ...(serves(domain, 'proof') ? [[`get${capital(name)}Proof`, proof] as const] : []),
  ];
};

/** The filters and orders of its lists. */
const filtersOf = ({ fields, oldestFirst }: Kind): Readonly<Record<string, z.ZodType>> => {
  const all = Object.entries(fields);
  const filters = filtersByFields(all);
  const sorted = all
    .flatMap(([name, { sort }]) => (sort ? [name] : []))
    .flatMap((name) => [`-${name}`, name]);
  return {
    ...Object.fromEntries(filters.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    ...(all.some(([, { search: weight }]) => weight !== undefined) && { q: search.optional() }),
    sort: oldestFirst
      ? sortBy('createdAt', '-createdAt', ...sorted)
      : sortBy('-createdAt', 'createdAt', ...sorted),
  };
};
