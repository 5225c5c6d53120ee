import { kebab, wire } from '#kernel/registry/names.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { listsOf } from '../../query/graphql/names.ts';
import type { Checks } from './checks.ts';
import { isHidden, partsOf } from './declared.ts';
import type { Caller, Callers } from './rights-callers.ts';
import { type Expecting, type Outcome, scopeIn } from './rights-expected.ts';
import { tryField } from './rights-mutations.ts';
import { seenByGraphql, seenByRest } from './rights-outcomes.ts';
import type { Made, Stage } from './stage.ts';

type Read = {
  readonly stage: Stage;
  readonly checks: Checks;
  readonly callers: Callers;
  readonly expecting: Expecting;
  readonly made: Made;
  readonly state: Row;
};
const EVENTS = 'read:events';

/** By its path, its fields, and in lists; every caller, and a token without the scope. */
export const checkReads = async (read: Read): Promise<void> => {
  const { stage, checks, callers, expecting, made, state } = read;
  const { kind } = made.situation;
  for (const caller of [...callers.actors, await callers.without(scopeIn(kind, 'read'))]) {
    const wanted = expecting.read(caller, { kind, state });
    if (wanted === undefined) continue;
    await checkOne(read, caller, wanted);
    if (wanted === 'allowed') await checkParts(read, caller);
    if (kind.parent === undefined) await checkLists(read, caller, wanted);
  }
  const silent = await callers.without(EVENTS);
  const { outcome } = seenByRest(await stage.read(`${made.path}/history`, silent), EVENTS);
  checks.equal(outcome, 'insufficient_scope', `the history of ${made.situation.name} for ${silent.key}`);
};

const checkOne = async ({ stage, checks, made }: Read, caller: Caller, wanted: Outcome): Promise<void> => {
  const { kind, name } = made.situation;
  const scope = scopeIn(kind, 'read');
  const what = `${caller.key} reads ${name}`;
  // Waits for every earlier write.
  checks.equal(seenByRest(await stage.read(made.path, caller), scope).outcome, wanted, what);
  const id = String(made.id);
  const ask = async (field: string, values: Row): Promise<string> =>
    seenByGraphql(await tryField(stage, { of: 'query', name: field, values }, caller), scope).outcome;
  // A query is refused as a whole only for a missing token or scope.
  checks.equal(
    await ask(kind.field, { id }),
    wanted === 'forbidden' ? 'absent' : wanted,
    `${what} by GraphQL`,
  );
  const representations = [{ __typename: kind.type, id }];
  for (const [field, values] of Object.entries({ node: { id }, _entities: { representations } }))
    checks.equal(await ask(field, values), wanted === 'allowed' ? wanted : 'absent', `${what} by ${field}`);
};

/** Representations and lists of items contain exactly the parts that a reader may read. */
const checkParts = async ({ stage, checks, expecting, made, state }: Read, caller: Caller): Promise<void> => {
  const { kind, name } = made.situation;
  const parts = partsOf(kind);
  if (parts.length === 0) return;
  const readable = parts.map((part) => expecting.part(caller, { kind, name: part.name, state }));
  if (readable.includes(undefined)) return;
  const hidden = parts.filter((_, index) => readable[index] === false);
  const { body } = await stage.read<Row>(made.path, caller);
  for (const field of parts.flatMap(({ reads }) => reads)) {
    const def = kind.fields[field];
    if (def !== undefined && kind.lists[field] === undefined)
      checks.equal(
        field in body || wire(field, def) in body,
        !hidden.some(({ reads }) => reads.includes(field)),
        `${field} of ${name} for ${caller.key}`,
      );
  }
  for (const list of Object.values(kind.lists)) {
    const isShown = (item: Row): boolean =>
      !hidden.some(
        ({ reads, items }) =>
          reads.includes(list.name) ||
          (items[list.name] !== undefined && isHidden(items[list.name] as Row, item)),
      );
    const path = `${made.path}/${kebab(list.name)}`;
    const { body: items } = await stage.read<readonly Row[]>(`${path}?limit=100`, caller);
    const wanted = ((state[list.name] ?? []) as readonly Row[]).filter(isShown);
    checks.equal(items.length, wanted.length, `${path} of ${name} for ${caller.key}`);
  }
};

/** The latest are on the first page. */
const checkLists = async ({ stage, checks, made }: Read, caller: Caller, wanted: Outcome): Promise<void> => {
  const { kind, name } = made.situation;
  const what = `${caller.key} lists ${name}`;
  for (const path of pathsOf(kind, made)) {
    const { status, body } = await stage.read<readonly Row[]>(`${path}?limit=100&sort=-createdAt`, caller);
    const isListed = status === 200 && body.some(({ id }) => id === made.id);
    checks.equal(isListed, wanted === 'allowed', `${what} at ${path}`);
  }
  const field = { of: 'query', name: listsOf(kind), values: { limit: 100 }, selection: '{ id }' } as const;
  const { data } = await tryField(stage, field, caller);
  const ids = ((data?.tried ?? []) as readonly Row[]).map(({ id }) => id);
  // The oldest may come first, and the list be longer.
  if (wanted !== 'allowed' || !kind.oldestFirst)
    checks.equal(ids.includes(String(made.id)), wanted === 'allowed', `${what} by GraphQL`);
};

const pathsOf = (kind: Kind, { owner }: Made): readonly string[] => [
  `/${kind.path}`,
  ...(owner === undefined ? [] : [`/users/${owner.userId}/${kind.path}`]),
];
