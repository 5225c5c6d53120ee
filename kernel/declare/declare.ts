import type {
  Aggregate,
  AnyAggregate,
  AnyDeclaration,
  CommandsOf,
  Declaration,
  DerivedOf,
  EndsOfTargets,
  EventsOf,
  FactSpec,
  Facts,
  Keys,
  More,
  Named,
  Part,
} from './aggregate.ts';
import type { Condition } from './conditions.ts';
import type { Fields } from './fields.ts';

const declarers = new WeakMap<AnyAggregate, object>();
/** Identifies the `domain()` that declared an aggregate. @internal */
export const declarerOf = (aggregate: AnyAggregate): object | undefined => declarers.get(aggregate);
const declaredBy = <A extends AnyAggregate>(declarer: object | undefined, aggregate: A): A => {
  if (declarer !== undefined) declarers.set(aggregate, declarer);
  return aggregate;
};

type Untyped = {
  readonly fields: Fields;
  readonly events: object;
  readonly commands: object;
  readonly rights: object;
  readonly [part: string]: unknown;
};
/** For aggregates of the kernel, whose fields the compiler does not know. @internal */
export const declareUntyped = (kind: string, declaration: Untyped, declarer?: object): AnyAggregate =>
  declaredBy(declarer, {
    kind,
    fields: declaration.fields,
    declaration: declaration as unknown as AnyDeclaration,
  });

/** The `aggregate()` of one domain, typed by its roles. @internal */
export const declareFor =
  <Role extends string>(declarer?: object) =>
  <
    const Kind extends string,
    F extends Fields,
    const E extends EventsOf<F, D>,
    const C extends CommandsOf<F, D, E, Condition<Facts<F, K, O>['fact'], F, D>>,
    const D extends DerivedOf<F> = Record<never, never>,
    const K extends {
      readonly [name: string]: FactSpec<Condition<Facts<F, unknown, O>['fact'], F, D>>;
    } = Record<never, never>,
    const O extends Keys<F, unknown>['reference'] | undefined = undefined,
    const P extends Keys<F, unknown>['reference'] | undefined = undefined,
    const Names extends Named = Record<never, never>,
    const Label extends string | undefined = undefined,
    // These are checked against their constraint before they are inferred, so that the compiler reports a
    // mistake at its place.
    const Guards extends Part<Role, F, D, E, K, C, O, P>['fieldRights'] = Record<never, never>,
    const Invariants extends Part<Role, F, D, E, K, C, O, P>['invariants'] = Record<never, never>,
    const Limits extends Part<Role, F, D, E, K, C, O, P>['limits'] = Record<never, never>,
  >(
    kind: Kind,
    declaration: Declaration<Role, F, D, E, K, C, O, P> & More<Names, Label, Guards, Invariants, Limits>,
  ): Aggregate<
    Kind,
    F,
    D,
    E & EndsOfTargets<F>,
    Facts<F, K, O>['fact'],
    C,
    { owner: O; parent: P } & Required<More<Names, Label, Guards, Invariants, Limits>>
  > =>
    declaredBy(declarer, {
      kind,
      fields: declaration.fields,
      derived: declaration.derived ?? ({} as D),
      events: declaration.events as E & EndsOfTargets<F>,
      commands: declaration.commands,
      declaration: declaration as unknown as AnyDeclaration,
    });
