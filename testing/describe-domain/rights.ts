import type { Kind, Row } from '#kernel/registry/registry.ts';
import { parentOf } from '#kernel/rest/operation.ts';
import { type Attempt, attemptsOn } from './attempts.ts';
import type { Checks } from './checks.ts';
import { type Caller, callersOf } from './rights-callers.ts';
import {
  type Cell,
  cellsOf,
  checkCell,
  type Matrix,
  newState,
  scopeOf,
  WAYS,
  type Way,
  wayOf,
} from './rights-cells.ts';
import { checkCreations } from './rights-creations.ts';
import { type Expecting, expectingOf, scopeIn } from './rights-expected.ts';
import { checkReads } from './rights-reads.ts';
import { openSeenRows, type SeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import { isCrowded, type Made, type Stage } from './stage.ts';

/** The names under which checks are counted. */
export const rightsChecksOf = (kind: Kind): readonly string[] =>
  Object.values(kind.commands).flatMap((command) =>
    command.internal ? [] : WAYS.map((way) => wayOf(kind, command, way)),
  );

/**
 * The matrix of callers and operations on aggregates, over REST and GraphQL: every caller gets what the
 * declaration demands, and refused callers change nothing. Each operation is carried out once by an
 * administrator with no other scope, and once by GraphQL; `checkLinks` does it for every actor.
 */
export const checkRights = async (
  stage: Stage,
  checks: Checks,
  situations: readonly Situation[],
): Promise<void> => {
  const matrix = { stage, checks, callers: callersOf(stage) };
  const done = new Set<string>();
  for (const situation of situations) {
    await checkRefusals(matrix, situation);
    if (!isCrowded(stage.domain)) await checkAllowed(matrix, situation, done);
  }
  for (const kind of Object.values(stage.domain.kinds))
    if (kind.name !== 'user' && parentOf(stage.domain, kind) === undefined)
      await checkCreations(matrix, kind);
};

type Tried = Matrix & {
  readonly seenRows: SeenRows;
  readonly expecting: Expecting;
  readonly made: Made;
  readonly state: Row;
};
const begin = async (matrix: Matrix, situation: Situation): Promise<Tried> => {
  const seenRows = openSeenRows(matrix.stage);
  const made = await matrix.stage.make(situation);
  const state = await seenRows.look(situation.kind, made.id);
  if (state === undefined) throw new Error(`${situation.name} was not made`);
  return { ...matrix, seenRows, made, state, expecting: expectingOf(matrix.stage, seenRows) };
};

/** The second actor of a role adds a case only beside the owner. */
const isOfInterest = ({ owner }: Situation, { key, role }: Caller): boolean =>
  !key.endsWith(' 2') || role === owner?.role;

const checkRefusals = async (matrix: Matrix, situation: Situation): Promise<void> => {
  const { stage, checks, callers } = matrix;
  const tried = await begin(matrix, situation);
  await checkReads(tried);
  const version = async (): Promise<string | null> =>
    (await stage.read(tried.made.path, stage.admin)).headers.get('etag');
  const before = await version();
  const actors = callers.actors.filter((caller) => isOfInterest(situation, caller));
  for (const attempt of await attemptsOn(stage, tried.made))
    for (const caller of [...actors, await callers.without(scopeOf(attempt))])
      await checkRefusal(tried, attempt, caller);
  checks.equal(await version(), before, `the version of ${situation.name} after refused writes`);
  await stage.unmake(tried.made);
};

/** Every write with another outcome than `allowed`. */
const checkRefusal = async (tried: Tried, attempt: Attempt, caller: Caller): Promise<void> => {
  const body = await attempt.body();
  for (const cell of cellsOf(tried, { attempt, caller, body })) {
    const wanted = await wantedFor(tried, cell);
    if (wanted === undefined || wanted === 'allowed') continue;
    // In the name of another is refused first, whatever the caller can read.
    if (cell.isForAnother && wanted === 'absent') continue;
    await checkCell(tried, cell, { wanted, way: 'REST' });
    // Only aggregates can be replaced, not their items.
    if (attempt.method === 'PATCH' && attempt.command.list === undefined)
      await checkCell(tried, { ...cell, attempt: { ...attempt, method: 'PUT' } }, { wanted, way: 'REST' });
    await checkCell(tried, cell, { wanted, way: 'GraphQL' });
  }
};

const wantedFor = async (tried: Tried, { attempt, caller, body }: Cell) => {
  const { stage, seenRows, made, state, expecting } = tried;
  const { kind, command, does } = attempt;
  const shown = { kind: made.situation.kind, state };
  const after =
    does === 'create' ? await newState(stage, seenRows, { kind, body, caller, above: made.id }) : state;
  return expecting.write(caller, { kind, name: command.name, state: after, shown });
};

/** What no earlier situation allowed, each on a fixture of its own. */
const checkAllowed = async (matrix: Matrix, situation: Situation, done: Set<string>): Promise<void> => {
  let tried = await begin(matrix, situation);
  const all = await attemptsOn(matrix.stage, tried.made);
  for (const way of WAYS)
    for (const [index, { name, path }] of all.entries()) {
      const key = `${way} ${name} ${path.split('/').at(-1)}`;
      if (done.has(key)) continue;
      const attempt = (await attemptsOn(matrix.stage, tried.made))[index];
      if (attempt?.name !== name || !(await isAllowedOnce(tried, attempt, way))) continue;
      done.add(key);
      tried = await begin(matrix, situation);
    }
};

/** Returns whether the attempt was carried out; the state of the aggregate may forbid it to everybody. */
const isAllowedOnce = async (tried: Tried, attempt: Attempt, way: Way): Promise<boolean> => {
  const { callers, made, state, expecting } = tried;
  const { kind } = made.situation;
  const byOwner = callers.actors.toSorted((one, other) => rankOf(one, made) - rankOf(other, made));
  // A child is created under a parent that the token reads.
  const above = attempt.does === 'create' ? [scopeIn(kind, 'read')] : [];
  const candidates = way === 'REST' ? [await callers.only(scopeOf(attempt), ...above)] : byOwner;
  const body = await attempt.body();
  for (const caller of candidates) {
    const [cell] = cellsOf(tried, { attempt, caller, body });
    if (cell === undefined || (await wantedFor(tried, cell)) !== 'allowed') continue;
    // The result of a mutation is its aggregate, which must be readable.
    if (way === 'GraphQL' && expecting.read(caller, { kind, state }) !== 'allowed') continue;
    return checkCell(tried, cell, { wanted: 'allowed', way });
  }
  return false;
};

/** The owner first, and administrators last. */
const rankOf = ({ key, role }: Caller, { owner }: Made): number =>
  key === owner?.key ? 0 : role === 'admin' ? 2 : 1;
