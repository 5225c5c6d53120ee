import { isFull } from '#kernel/base/rejection.ts';
import { reasonOf } from '#kernel/decide/reasons.ts';
import { mutationName } from '#kernel/registry/mutations.ts';
import type { CommandInfo, Kind, ListInfo } from '#kernel/registry/registry.ts';
import { itemArgument } from '../../query/graphql/rules/names.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import type { Checks } from './checks.ts';
import { isToUser } from './forms.ts';
import { checkItemPages } from './item-pages.ts';
import {
  addItem,
  commandOn,
  type Filling,
  itemSourceOf,
  keysByGraphql,
  keysIn,
  makeBefore,
} from './items.ts';
import { giverOf } from './seen-rows.ts';
import { requestOf, type Stage } from './stage.ts';
import { REASON_OF_TESTS } from './with-reasons.ts';

const movesIn = (kind: Kind, list: ListInfo): string => `the order of ${kind.name}.${list.name} after moves`;
const fullness = (kind: Kind, list: ListInfo): string => `how many ${kind.name}.${list.name} there may be`;
const itemPages = (kind: Kind, list: ListInfo): string => `pages of ${kind.name}.${list.name}`;

/** Longer lists would only take time, and their items may need new users. */
const FILLED_MAX = 100;
const PEOPLE_MAX = 30;

/** The list of holds is the same for every aggregate. */
const canBeFilled = ({ hold }: Kind, { name, max, key, id: { def } }: ListInfo): boolean =>
  !(hold && name === 'holds') &&
  max <= (key !== undefined && def.kind === 'ref' && isToUser(def) ? PEOPLE_MAX : FILLED_MAX) &&
  (key === undefined || def.values === undefined || def.values.length > max);

const MOVED = 4;
const canBeMoved = ({ max, key, id: { def } }: ListInfo): boolean =>
  max >= MOVED && (key === undefined || def.values === undefined || def.values.length >= MOVED);

/** The names under which checks of lists are counted. */
export const listChecksOf = (kind: Kind): readonly string[] =>
  Object.values(kind.lists).flatMap((list) => {
    if (commandOn(kind, list, 'addItem') === undefined) return [];
    return [
      ...(commandOn(kind, list, 'moveItem') && canBeMoved(list) ? [movesIn(kind, list)] : []),
      ...(canBeFilled(kind, list) ? [fullness(kind, list), itemPages(kind, list)] : []),
    ];
  });

/** Lists keep the order in which their items were put, hold their maximum, and are paginated. */
export const checkItemLists = async (stage: Stage, checks: Checks, kind: Kind): Promise<void> => {
  for (const list of Object.values(kind.lists)) {
    const [addition, move] = [commandOn(kind, list, 'addItem'), commandOn(kind, list, 'moveItem')];
    if (addition === undefined) continue;
    if (move !== undefined && canBeMoved(list))
      await checkMoves(stage, checks.of(movesIn(kind, list)), { kind, list, addition, move });
    if (canBeFilled(kind, list)) await checkFullness(stage, checks, { kind, list, addition });
  }
};

type Moving = {
  readonly kind: Kind;
  readonly list: ListInfo;
  readonly addition: CommandInfo;
  readonly move: CommandInfo;
};

const PLACES = [
  { from: -1, before: 0 },
  { from: 0, before: 2 },
  { from: 0, before: undefined },
  { from: -1, before: 1 },
  { from: 1, before: 0 },
  { from: 2, before: undefined },
];

/**
 * Moves to the first place, the last, and between: by REST and GraphQL in turn, read by both, and with time
 * travel.
 */
const checkMoves = async (
  stage: Stage,
  checks: Checks,
  { kind, list, addition, move }: Moving,
): Promise<void> => {
  const before = await makeBefore(stage, kind, addition);
  if (before === undefined) return;
  const filling: Filling = { stage, list, addition, made: before.made, by: before.by };
  const moving: Filling = { ...filling, by: await giverOf(stage, before.made, move.name) };
  let order = await keysIn(filling);
  for (let count = order.length; count < MOVED; count += 1) {
    const { status, body } = await addItem(filling, order);
    if (status >= 300)
      throw new Error(`${addition.name} of ${kind.name} was refused: ${JSON.stringify(body)}`);
    order = await keysIn(filling);
  }
  checks.equal(order.length >= MOVED, true, `there are ${MOVED} ${list.name} of ${kind.name}`);
  const were: (readonly [version: string, order: readonly string[]])[] = [];
  for (const [index, { from, before: place }] of PLACES.entries()) {
    const moved = order.at(from) ?? '';
    const next = place === undefined ? undefined : order[place];
    const others = order.filter((key) => key !== moved);
    const at = next === undefined ? others.length : others.indexOf(next);
    const version = await (index % 2 === 0 ? moveByRest : moveByGraphql)(moving, move, { moved, next });
    order = others.toSpliced(at, 0, moved);
    were.push([version, order]);
    const what = `${list.name} of ${kind.name} after ${moved} was moved before ${next ?? 'nothing'}`;
    checks.equal(await keysIn(filling), order, what);
    checks.equal(await keysByGraphql(filling), order, `${what}, by GraphQL`);
  }
  for (const [version, was] of were)
    checks.equal(
      await keysIn(filling, `&at=v${version}`),
      was,
      `${list.name} of ${kind.name} at v${version}`,
    );
  await stage.unmake(before.made);
};

type Move = { readonly moved: string; readonly next: string | undefined };

const moveByRest = async (
  { stage, made, list, by }: Filling,
  move: CommandInfo,
  { moved, next }: Move,
): Promise<string> => {
  const { kind } = made.situation;
  const [method, path] = requestOf(stage.domain, kind, move, {
    [`${kind.name}Id`]: made.id,
    [list.id.name]: moved,
  });
  const isNumber = list.key === undefined || list.id.def.column === 'bigint';
  const before = next === undefined ? null : isNumber ? Number(next) : next;
  const { written } = await stage.session.write(method, path, { token: by.token, body: { before } });
  return String(written.version);
};

const moveByGraphql = async (
  { stage, made, list, by }: Filling,
  move: CommandInfo,
  { moved, next }: Move,
): Promise<string> => {
  const { kind } = made.situation;
  const quoted = (key: string): string => (list.id.def.values === undefined ? JSON.stringify(key) : key);
  const one = `id: "${made.id}", ${itemArgument(itemSourceOf(stage, kind, list))}: ${quoted(moved)}`;
  const reason = reasonOf(kind, move) === undefined ? '' : `, reason: ${JSON.stringify(REASON_OF_TESTS)}`;
  const text = `mutation { done: ${mutationName(kind, move)}(${one}, before: ${next === undefined ? 'null' : quoted(next)}${reason}) { __typename } }`;
  const { data, errors } = await graphqlClientOf(stage.installation)<{ readonly done: unknown }>(text, {
    token: by.token,
  });
  if (!data?.done) throw new Error(`${text} was refused: ${JSON.stringify(errors)}`);
  const { headers } = await stage.readAny(made.path);
  return /^"(\d+)-/.exec(headers.get('etag') ?? '')?.[1] ?? '';
};

/** Accepts the declared maximum, and not one more. */
const checkFullness = async (
  stage: Stage,
  checks: Checks,
  { kind, list, addition }: Omit<Moving, 'move'>,
): Promise<void> => {
  const before = await makeBefore(stage, kind, addition);
  if (before === undefined) return;
  const filling: Filling = { stage, list, addition, made: before.made, by: before.by };
  const taken = [...(await keysIn(filling))];
  const what = `${list.name} of ${kind.name}`;
  // A key may be drawn twice.
  for (let tries = 2 * list.max; tries > 0 && taken.length < list.max; tries -= 1) {
    const { status, body } = await addItem(filling, taken);
    const { code } = (body ?? {}) as { readonly code?: unknown };
    const isTaken = status < 300 || String(code).endsWith('_exists');
    checks
      .of(fullness(kind, list))
      .equal({ isTaken, code }, { isTaken: true, code }, `${taken.length + 1} of ${list.max} ${what}`);
    if (status < 300) taken.splice(0, taken.length, ...(await keysIn(filling)));
  }
  checks.of(fullness(kind, list)).equal(taken.length, list.max, `the maximum number of ${what}`);
  const { status, body } = await addItem(filling, taken);
  const { code } = (body ?? {}) as { readonly code?: unknown };
  checks
    .of(fullness(kind, list))
    .equal([status, code], [409, isFull(kind.name, list.name)], `one more of ${list.max} ${what}`);
  checks
    .of(fullness(kind, list))
    .equal((await keysIn(filling)).length, list.max, `${what} once one more was refused`);
  await checkItemPages(filling, checks.of(itemPages(kind, list)));
  await stage.unmake(before.made);
};
