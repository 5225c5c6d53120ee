import type { Kind, Row } from '#kernel/registry/registry.ts';
import { listsOf } from '../../query/graphql/rules/names.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import type { Caller } from './rights-callers.ts';
import { checkContent, type Read } from './rights-content.ts';
import { type Outcome, scopeIn } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { seenByGraphql, seenByRest } from './rights-outcomes.ts';
import type { Made } from './stage.ts';

const EVENTS = 'read:events';
type Wanted = { readonly read: Read; readonly wanted: Outcome };

/**
 * By its path, its fields, and in lists; every caller, and a token without the scope. Aggregates of a kind are
 * read together: `checkLinks` reads each by itself for every actor.
 */
export const checkReads = async (reads: readonly Read[]): Promise<void> => {
  for (const [kind, all] of Map.groupBy(reads, ({ made }) => made.situation.kind)) {
    const [first] = all;
    if (first === undefined) continue;
    const { stage, checks, callers } = first;
    for (const caller of [...callers.actors, await callers.without(scopeIn(kind, 'read'))]) {
      const asked = all.flatMap((read): readonly Wanted[] => {
        const wanted = read.expecting.read(caller, { kind, state: read.state });
        return wanted === undefined ? [] : [{ read, wanted }];
      });
      if (asked.length === 0) continue;
      await checkPaths(caller, asked);
      await checkFields({ stage, checks, caller, kind }, asked);
      for (const { read, wanted } of asked) if (wanted === 'allowed') await checkContent(read, caller);
      if (kind.parent === undefined) await checkLists({ stage, checks, caller, kind }, asked);
    }
    const silent = await callers.without(EVENTS);
    const { outcome } = seenByRest(await stage.read(`${first.made.path}/history`, silent), EVENTS);
    checks.equal(
      outcome,
      'insufficient_scope',
      `the history of ${first.made.situation.name} for ${silent.key}`,
    );
  }
};

/** One for each outcome. */
const checkPaths = async (caller: Caller, asked: readonly Wanted[]): Promise<void> => {
  for (const [wanted, [first]] of Map.groupBy(asked, (each) => each.wanted)) {
    if (first === undefined) continue;
    const { stage, checks, made } = first.read;
    const { kind, name } = made.situation;
    // Waits for every earlier write.
    const { outcome } = seenByRest(await stage.read(made.path, caller), scopeIn(kind, 'read'));
    // An item does not show whether a role may never read it.
    checks.equal(outcome, wanted === 'forbidden' ? 'absent' : wanted, `${caller.key} reads ${name}`);
  }
};

type Asking = Pick<Read, 'stage' | 'checks'> & { readonly caller: Caller; readonly kind: Kind };

const checkFields = async (asking: Asking, asked: readonly Wanted[]): Promise<void> => {
  const { stage, checks, caller, kind } = asking;
  const scope = scopeIn(kind, 'read');
  for (const field of [kind.field, 'node']) {
    const outcomes = await outcomesOf(asking, asked, field);
    for (const [index, { read, wanted }] of asked.entries()) {
      // A query is refused as a whole only for a missing token or scope.
      const isAbsent = wanted === 'forbidden' || (field === 'node' && wanted !== 'allowed');
      const what = `${caller.key} reads ${read.made.situation.name} by the GraphQL field ${field}`;
      checks.equal(outcomes[index], isAbsent ? 'absent' : wanted, what);
    }
  }
  const representations = asked.map(({ read: { made } }) => ({ __typename: kind.type, id: String(made.id) }));
  const found = await tryField(
    stage,
    { of: 'query', name: '_entities', values: { representations } },
    caller,
  );
  const entities = (found.data?.tried ?? []) as readonly unknown[];
  for (const [index, { read, wanted }] of asked.entries()) {
    const one = { ...found, data: { tried: [entities[index] ?? null] as never } };
    checks.equal(
      seenByGraphql(one, scope).outcome,
      wanted === 'allowed' ? wanted : 'absent',
      `${caller.key} reads ${read.made.situation.name} by _entities`,
    );
  }
};

/** Of one query that has the field once for each aggregate. */
const outcomesOf = async (
  { stage, caller, kind }: Asking,
  asked: readonly Wanted[],
  field: string,
): Promise<readonly string[]> => {
  const fields = asked.map(
    ({ read: { made } }, index) => `tried${index}: ${field}(id: "${made.id}") { __typename }`,
  );
  const { errors, data, ...reply } = await graphqlClientOf(stage.installation)<Row | null>(
    `{ ${fields.join(' ')} }`,
    { token: caller.token },
  );
  return asked.map((_, index) => {
    const alias = `tried${index}`;
    const own = errors?.filter(({ path }) => path === undefined || path[0] === alias);
    const tried = data && { tried: data[alias] as Row | null };
    const one = { ...reply, data: tried, errors: own?.length === 0 ? undefined : own };
    return seenByGraphql(one, scopeIn(kind, 'read')).outcome;
  });
};

/** The latest are on the first page. */
const checkLists = async (
  { stage, checks, caller, kind }: Asking,
  asked: readonly Wanted[],
): Promise<void> => {
  const byPath = Map.groupBy(
    asked.flatMap((each) => pathsOf(kind, each.read.made).map((path) => ({ ...each, path }))),
    ({ path }) => path,
  );
  for (const [path, all] of byPath) {
    const { status, body } = await stage.read<readonly Row[]>(`${path}?limit=100&sort=-createdAt`, caller);
    for (const { read, wanted } of all) {
      const isListed = status === 200 && body.some(({ id }) => id === read.made.id);
      const what = `${caller.key} lists ${read.made.situation.name} at ${path}`;
      checks.equal(isListed, wanted === 'allowed', what);
    }
  }
  const field = { of: 'query', name: listsOf(kind), values: { limit: 100 }, selection: '{ id }' } as const;
  const { data } = await tryField(stage, field, caller);
  const ids = ((data?.tried ?? []) as readonly Row[]).map(({ id }) => id);
  // The oldest may come first, and the list be longer.
  for (const { read, wanted } of asked)
    if (wanted !== 'allowed' || !kind.oldestFirst)
      checks.equal(
        ids.includes(String(read.made.id)),
        wanted === 'allowed',
        `${caller.key} lists ${read.made.situation.name} by GraphQL`,
      );
};

const pathsOf = (kind: Kind, { owner }: Made): readonly string[] => [
  `/${kind.path}`,
  ...(owner === undefined ? [] : [`/users/${owner.userId}/${kind.path}`]),
];
