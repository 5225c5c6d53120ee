import { isUser } from '#kernel/base/users.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { parentOf } from '#kernel/rest/operation.ts';
import { isOfInterest } from './actors-of-interest.ts';
import { type Attempt, attemptsOn } from './attempts.ts';
import type { Checks } from './checks.ts';
import { mayEver } from './declared.ts';
import { type Caller, callersOf } from './rights-callers.ts';
import {
  type Cell,
  cellsOf,
  checkCell,
  contentOf,
  type Matrix,
  movedState,
  newState,
  scopeOf,
  WAYS,
  type Way,
  wayOf,
} from './rights-cells.ts';
import { checkHiddenTargets, labelled } from './rights-content.ts';
import { checkCreations } from './rights-creations.ts';
import { type Expecting, expectingOf, scopeIn } from './rights-expected.ts';
import { checkReads } from './rights-reads.ts';
import { askingAs, openSeenRows, type SeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import { isCrowded, type Made, type Stage } from './stage.ts';
import { writesHidden } from './written-parts.ts';

/** The names under which checks are counted. Nobody is refused what anyone may do. */
export const rightsChecksOf = (domain: Domain, kind: Kind): readonly string[] =>
  Object.values(kind.commands).flatMap((command) =>
    command.internal || mayEver(domain, kind, command.name, 'anonymous')
      ? []
      : WAYS.map((way) => wayOf(kind, command, way)),
  );

/**
 * The matrix of callers and operations on aggregates, over REST and GraphQL: every caller gets what the
 * declaration demands, and refused callers change nothing. `checkLinks` tries every write by REST for every
 * actor in every state. So here each caller gets each refusal of a write once, with its exact form, and each
 * operation is carried out once by an administrator with no other scope, and once by GraphQL.
 */
export const checkRights = async (
  stage: Stage,
  checks: Checks,
  situations: readonly Situation[],
): Promise<void> => {
  const matrix = { stage, checks, callers: callersOf(stage) };
  const done = new Set<string>();
  const refused = new Set<string>();
  // Situations that compete for room exist one at a time.
  const size = isCrowded(stage.domain) ? 1 : TOGETHER_MAX;
  for (let from = 0; from < situations.length; from += size) {
    const all: Tried[] = [];
    for (const situation of situations.slice(from, from + size)) all.push(await begin(matrix, situation));
    await checkReads(all);
    for (const tried of all) {
      const attempts = await checkRefusals(tried, refused);
      const isLeft = attempts.some((attempt) => WAYS.some((way) => !done.has(keyOf(attempt, way))));
      if (isLeft && !isCrowded(stage.domain)) await checkAllowed(matrix, tried, done);
      await stage.unmake(tried.made);
      await checkHidden(matrix, tried.made.situation);
    }
  }
  for (const kind of Object.values(stage.domain.kinds))
    if (!isUser(kind) && parentOf(stage.domain, kind) === undefined) await checkCreations(matrix, kind);
};

/** On a fixture of its own, which it changes. */
const checkHidden = async (matrix: Matrix, situation: Situation): Promise<void> => {
  if (labelled(matrix.stage.domain, situation.kind).length === 0) return;
  const tried = await begin(matrix, situation);
  await checkHiddenTargets(tried);
  await matrix.stage.unmake(tried.made);
};

/** Fixtures that are made together fit the first page of a list. */
const TOGETHER_MAX = 40;

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

const checkRefusals = async (tried: Tried, refused: Set<string>): Promise<readonly Attempt[]> => {
  const { stage, checks, callers, made } = tried;
  const { situation } = made;
  const version = async (): Promise<string | null> => (await stage.readAny(made.path)).headers.get('etag');
  const before = await version();
  const actors = callers.actors.filter((caller) => isOfInterest(situation, caller));
  const attempts = await attemptsOn(stage, made);
  for (const attempt of attempts)
    for (const caller of [...actors, await callers.without(scopeOf(attempt))])
      await checkRefusal(tried, { attempt, caller, refused });
  checks.equal(await version(), before, `the version of ${situation.name} after refused writes`);
  return attempts;
};

/** Every write with another outcome than `allowed`. */
type Refusing = Pick<Cell, 'attempt' | 'caller'> & { readonly refused: Set<string> };
const checkRefusal = async (tried: Tried, { attempt, caller, refused }: Refusing): Promise<void> => {
  // Only rights to creations compare what is sent.
  const first = attempt.does === 'create' ? await attempt.body() : undefined;
  for (const cellOf of cellsOf(tried, { attempt, caller, body: first })) {
    const wanted = await wantedFor(tried, cellOf);
    if (wanted === undefined || wanted === 'allowed') continue;
    // In the name of another is refused first, whatever the caller can read.
    if (cellOf.isForAnother && wanted === 'absent') continue;
    const key = [attempt.name, attempt.method, caller.key, wanted, cellOf.isForAnother].join(' ');
    if (refused.has(key)) continue;
    refused.add(key);
    const cell = { ...cellOf, body: cellOf.body ?? (await attempt.body()) };
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
  if (does !== 'create') {
    const asked = { kind, name: command.name, shown };
    const after = await movedState(stage, seenRows, { kind, command, body, state });
    const before = expecting.write(caller, { ...asked, state });
    // The right to move an aggregate must hold below both parents.
    const wanted =
      before === 'allowed' ? after && expecting.write(caller, { ...asked, state: after }) : before;
    const writing = { kind, command, body: contentOf(body), state };
    return wanted === 'allowed' && writesHidden(askingAs(stage, seenRows, caller), writing)
      ? undefined
      : wanted;
  }
  const given = await newState(stage, seenRows, { kind, body, caller, above: made.id });
  return expecting.create(caller, { kind, name: command.name, state: given, above: shown });
};

/** Files share the command of their field. */
const keyOf = ({ name, method, does }: Attempt, way: Way): string => [way, name, method, does].join(' ');

/** Operations that no earlier situation allowed, each on a fixture of its own. */
const checkAllowed = async (matrix: Matrix, begun: Tried, done: Set<string>): Promise<void> => {
  let tried = begun;
  const all = await attemptsOn(matrix.stage, tried.made);
  for (const way of WAYS)
    for (const [index, one] of all.entries()) {
      const key = keyOf(one, way);
      if (done.has(key)) continue;
      const attempt = (await attemptsOn(matrix.stage, tried.made))[index];
      if (attempt?.name !== one.name || !(await isAllowedOnce(tried, attempt, way))) continue;
      done.add(key);
      tried = await begin(matrix, begun.made.situation);
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
  for (const caller of candidates) {
    const body = await attempt.body(caller);
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
