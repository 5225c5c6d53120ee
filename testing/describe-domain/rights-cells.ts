import { targetOf, wire } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import type { Attempt } from './attempts.ts';
import type { Checks } from './checks.ts';
import type { Caller, Callers } from './rights-callers.ts';
import { scopeIn } from './rights-expected.ts';
import { mutationOf, tryField } from './rights-mutations.ts';
import { type Seen, seenByGraphql, seenByRest, UNNAMED } from './rights-outcomes.ts';
import { type SeenRows, stateOf } from './seen-rows.ts';
import type { Made, Stage } from './stage.ts';
import { isOfEndedTarget, isUnnamed, lacksTarget } from './written-parts.ts';

export type Matrix = { readonly stage: Stage; readonly checks: Checks; readonly callers: Callers };

/** The two interfaces. */
export const WAYS = ['REST', 'GraphQL'] as const;
export type Way = (typeof WAYS)[number];
/** The name under which checks are counted. */
export const wayOf = (kind: Kind, { name }: CommandInfo, way: Way): string =>
  `who may ${name} ${kind.name} by ${way}`;

/** One attempt of one caller. */
export type Cell = {
  readonly attempt: Attempt;
  readonly caller: Caller;
  /** The aggregate, or the parent of a new one. */
  readonly id: number | undefined;
  readonly body: unknown;
  readonly isForAnother?: true;
  /** The scope that a refusal names, if it is not that of the command. */
  readonly scope?: string;
  readonly what: string;
};

export const scopeOf = ({ kind, command }: Attempt): string => scopeIn(kind, command.name);

const TRIED: Readonly<Record<Way, (stage: Stage, cell: Cell, scope: string) => Promise<Seen>>> = {
  async REST({ ask }, { attempt, caller, body }, scope) {
    const { method, path, type } = attempt;
    const more = { ...(body !== undefined && { body }), ...(type !== undefined && { type }) };
    const reply = await ask(method, path, { token: caller.token, ...more });
    const seen = seenByRest(reply, scope);
    if (isOfEndedTarget(attempt, reply)) return { ...seen, outcome: 'allowed' };
    return isUnnamed(attempt, reply) ? { ...seen, outcome: UNNAMED } : seen;
  },
  async GraphQL(stage, { attempt, caller, id, body }, scope) {
    const field = mutationOf(stage.domain, attempt, { id, body: contentOf(body) });
    const reply = await tryField(stage, field, { token: caller.token });
    const seen = seenByGraphql(reply, scope);
    const told = { status: 422, body: reply.errors?.[0]?.extensions };
    return isUnnamed(attempt, told) ? { ...seen, outcome: UNNAMED } : seen;
  },
};

/** Returns whether it was carried out. */
export const checkCell = async (
  { stage, checks }: Matrix,
  cell: Cell,
  { wanted, way }: { readonly wanted: string; readonly way: Way },
): Promise<boolean> => {
  const { kind, command, method } = cell.attempt;
  if (lacksTarget(cell.attempt, contentOf(cell.body))) return false;
  const { outcome, isDone, said } = await TRIED[way](stage, cell, cell.scope ?? scopeOf(cell.attempt));
  if (outcome === UNNAMED) return false;
  const what = `${cell.what} by ${way} (${method}): ${said}`;
  checks.of(wayOf(kind, command, way)).equal(outcome, wanted, what);
  return isDone;
};

export const contentOf = (body: unknown): Row =>
  typeof body === 'object' && body !== null && !(body instanceof Uint8Array) ? (body as Row) : {};

type New = {
  readonly kind: Kind;
  readonly body: unknown;
  readonly caller: Caller;
  readonly above?: number | undefined;
};
/** The state of the new aggregate: rights to creations compare its fields. */
export const newState = async (
  { domain }: Stage,
  seenRows: SeenRows,
  { kind, body, caller, above }: New,
): Promise<Row> => {
  const { owner, parent, fields } = kind;
  const content = contentOf(body);
  const ownerName = owner === undefined ? undefined : wire(owner, fields[owner]);
  const given = {
    ...stateOf(kind, { ...(ownerName && { [ownerName]: caller.userId }), ...content }),
    ...(parent !== undefined && { [parent]: above }),
  };
  for (const [name, id] of Object.entries(given)) {
    const target = domain.kinds[String(fields[name]?.target)];
    if (target !== undefined && !isUser(target) && typeof id === 'number') await seenRows.look(target, id);
  }
  return given;
};

type Moving = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly body: unknown;
  readonly state: Row;
};

/** The state after a move below another parent, which the body names; otherwise the same state. */
export const movedState = async (
  { domain }: Stage,
  seenRows: SeenRows,
  { kind, command, body, state }: Moving,
): Promise<Row | undefined> => {
  const { parent, fields } = kind;
  if (parent === undefined || !command.events.some(({ former }) => former !== undefined)) return state;
  const def = fields[parent];
  const above = def && domain.kinds[targetOf(def)];
  const id = contentOf(body)[wire(parent, def)];
  if (above === undefined || typeof id !== 'number') return undefined;
  await seenRows.look(above, id);
  return { ...state, [parent]: id };
};

/** A creation is tried in the name of another as well. */
export const cellsOf = (
  { callers, made }: Pick<Matrix, 'callers'> & { readonly made?: Made },
  { attempt, caller, body }: Pick<Cell, 'attempt' | 'caller' | 'body'>,
): readonly Cell[] => {
  const { kind, does, name } = attempt;
  const on = made === undefined ? '' : ` on ${made.situation.name}`;
  const own: Cell = { attempt, caller, body, id: made?.id, what: `${name} by ${caller.key}${on}` };
  const others = does === 'create' ? inNameOfAnother(callers, kind, { body, caller }) : undefined;
  return others === undefined
    ? [own]
    : [own, { ...own, body: others, isForAnother: true, what: `${own.what} for another` }];
};

/** The same creation for another owner; undefined if nobody owns the kind. */
const inNameOfAnother = (
  { actors }: Callers,
  { owner, fields }: Kind,
  { body, caller }: { readonly body: unknown; readonly caller: Caller },
): Row | undefined => {
  const other = actors.find(({ userId }) => userId !== null && userId !== caller.userId);
  if (owner === undefined || other === undefined) return undefined;
  return { ...contentOf(body), [wire(owner, fields[owner])]: other.userId };
};
