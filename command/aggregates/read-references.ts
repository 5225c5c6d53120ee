import type { StreamName, Version } from '#kernel/base/brands.ts';
import { targetOf } from '#kernel/base/names.ts';
import { conditionsIn } from '#kernel/conditions/declared.ts';
import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { questionsIn } from '#kernel/conditions/fold.ts';
import { operationOf, rightsOf } from '#kernel/conditions/rights.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { type Look, lookNowhere } from '#kernel/decide/guards.ts';
import { referencesAfter } from '#kernel/decide/reads.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { type Fence, fencedBy, streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';

/** Reads the current states of the references that a decision depends on. */
export type ReadReferences = (kind: Kind, fields: Row, more?: ReadOptions) => Promise<Seen>;

/** The states that were read, and the fence around those that the decision reads. */
export type Seen = { readonly look: Look; readonly fence: Fence };

export const SEEN_NOTHING: Seen = { look: lookNowhere, fence: new Map() };

type ReadOptions = {
  readonly also?: Expression | undefined;
  /** For a creation, also reads the path to the person of personal fields. */
  readonly isCreation?: boolean;
  /** References that the decision reads; everything read behind them is fenced. */
  readonly reads?: readonly string[];
};

export const createReferenceReader = (domain: Domain, states: States): ReadReferences => {
  const paths = new Map(Object.values(domain.kinds).map((kind) => [kind, pathsOf(domain, kind)]));
  const ofPersons = new Map(Object.values(domain.kinds).map((kind) => [kind, personPaths(kind)]));
  return async (kind, fields, { also, isCreation = false, reads = [] } = {}) => {
    const asked = paths.get(kind) ?? NOTHING;
    const persons = (isCreation ? ofPersons.get(kind) : undefined) ?? NOTHING;
    if (asked.size + persons.size === 0 && also === undefined && reads.length === 0) return SEEN_NOTHING;
    const found = new Map<string, AggregateState>();
    const fence = new Map<StreamName, Version>();
    const isRead = (field: string): boolean => reads.includes(field);
    const follow = async (from: Kind, { fields: at, asked, isFenced = isRead }: Following): Promise<void> => {
      for (const [field, further] of asked) {
        const def = from.fields[field];
        const target = def && domain.kinds[targetOf(def)];
        const id = at[field];
        if (target === undefined || typeof id !== 'number') continue;
        const stream = streamOf(target, id);
        const { state, version } = await states.load(deciderOf(domain, target), stream);
        const isHeld = isFenced(field);
        if (isHeld && !fence.has(stream)) fence.set(stream, version);
        found.set(`${target.name} ${id}`, state);
        if (state.status !== 'absent')
          await follow(target, { fields: state.fields, asked: further, isFenced: () => isHeld });
      }
    };
    await follow(kind, { fields, asked });
    if (persons.size > 0) await follow(kind, { fields, asked: persons });
    if (also !== undefined) await follow(kind, { fields, asked: collected(also) });
    const unasked = reads.filter((field) => !asked.has(field));
    await follow(kind, { fields, asked: new Map(unasked.map((field) => [field, NOTHING])) });
    return { look: (name, id) => found.get(`${name} ${id}`) ?? ABSENT, fence };
  };
};

type Moving = { readonly kind: Kind; readonly fields: Row; readonly form: Row; readonly before: Seen };

/**
 * Reads the targets to which a form moves references too: decisions and invariants ask about them. The look
 * finds both targets.
 */
export const readAfter = async (
  read: ReadReferences,
  { kind, fields, form, before }: Moving,
  reads: readonly string[],
): Promise<Seen> => {
  const after = referencesAfter(kind, fields, form);
  const isMoved = Object.keys(after).some((name) => after[name] !== fields[name]);
  if (!isMoved) return before;
  const seen = await read(kind, after, { reads });
  return { look: bothOf(before.look, seen.look), fence: fencedBy(before.fence, seen.fence) };
};

/** Looks up the earlier states first, then those that the form refers to. */
const bothOf =
  (before: Look, after: Look): Look =>
  (kind, id) => {
    const state = before(kind, id);
    return state.status === 'absent' ? after(kind, id) : state;
  };

type Following = {
  readonly fields: Row;
  readonly asked: Paths;
  readonly isFenced?: (field: string) => boolean;
};

/** A tree of references to follow. */
type Paths = Map<string, Paths>;
const NOTHING: Paths = new Map();

/** The parent, which must be visible, and the references in rights, guards and invariants. */
const pathsOf = (domain: Domain, kind: Kind): Paths => {
  const paths: Paths = new Map();
  for (const right of rightsOf(domain).values())
    if (right.kind === kind) for (const each of right.alternatives) collect(each, paths);
  for (const condition of conditionsIn(kind, ['commands', 'invariants']))
    collect(resolve(domain, kind, condition), paths);
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  const parent = def && domain.kinds[targetOf(def)];
  if (parent === undefined || kind.parent === undefined) return paths;
  const further: Paths = paths.get(kind.parent) ?? new Map();
  paths.set(kind.parent, further);
  for (const each of rightsOf(domain).get(operationOf(parent, 'read'))?.alternatives ?? [])
    collect(each, further);
  return paths;
};

/** Without the last reference, which is the person. */
const personPaths = ({ persons }: Kind): Paths => {
  const paths: Paths = new Map();
  for (const path of Object.values(persons)) enter(paths, path.slice(0, -1));
  return paths;
};

const collected = (expression: Expression): Paths => {
  const paths: Paths = new Map();
  collect(expression, paths);
  return paths;
};

const collect = (expression: Expression, paths: Paths): void => {
  for (const { asked, way } of questionsIn(expression))
    if (asked.op === 'at') enter(paths, [...way.map(({ field }) => field), asked.field]);
};

const enter = (paths: Paths, path: readonly string[]): void => {
  let at = paths;
  for (const field of path) {
    const further: Paths = at.get(field) ?? new Map();
    at.set(field, further);
    at = further;
  }
};
