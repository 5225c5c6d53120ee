// Over 200 lines, because it is one idea: what the word `hold` adds to a declaration.
import { capital, oneOf, spaced } from '../base/names.ts';
import { refusedAs } from '../base/rejection.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import { declarerOf, declareUntyped } from '../declare/declare.ts';
import { type Field, type Fields, flag, instant, integer, list, reasonLine, ref } from '../declare/fields.ts';
import type { Commanded } from '../declare/run.ts';
import type { Kind, Row } from '../registry/registry.ts';

/**
 * A hold is an item of a list of the aggregate itself: whoever places one and whoever deletes the aggregate at the
 * same time append to one stream, so that one of them is refused. Everything else – paths, mutations, events,
 * history, rights and proof – is that of any list.
 */

/** Of one aggregate at a time. Released holds are in its history alone. */
const HOLDS_MAX = 100;
const HELD_ITEMS_MAX = 2 ** 31 - 1;

const ADDED = {
  fields: ['held', 'holds'],
  events: ['holdPlaced', 'held', 'holdReleased', 'unheld'],
  commands: ['placeHold', 'releaseHold'],
  facts: ['unheld'],
  fieldRights: ['readHolds'],
  reactions: ['unheld'],
} as const;

const ADDED_TO_USERS = {
  fields: ['heldItems'],
  events: ['itemHeld', 'itemReleased'],
  facts: ['itemsUnheld'],
  fieldRights: ['readHeldItems'],
} as const;

type Parts = Readonly<Record<string, Row | undefined>>;

/** Each aggregate with what its `hold` adds, and users with what holds on their data add. */
export const withHolds = (aggregates: readonly AnyAggregate[]): readonly AnyAggregate[] => {
  const isOfData = aggregates.some((each) => holdOf(each) !== undefined && personsOf(each).length > 0);
  return aggregates.map((each) => {
    const held = holdOf(each) === undefined ? each : withHold(each);
    return isOfData && isUser({ name: each.kind }) ? withHeldItems(held) : held;
  });
};

const holdOf = ({ kind, declaration }: AnyAggregate): Row | undefined => {
  const { hold } = declaration as { readonly hold?: Row };
  if (hold === undefined) return undefined;
  const [strange] = Object.keys(hold).filter((word) => word !== 'right');
  if (strange !== undefined)
    throw new StartRefused(`${kind}: \`hold\` has \`${strange}\`, which has no meaning there: use right.`);
  if (typeof hold.right !== 'object' || hold.right === null)
    throw new StartRefused(
      `${kind}: \`hold\` does not say who may place and release holds: write { right: { … } } with their roles, or {} for administrators alone.`,
    );
  if (Object.hasOwn(hold.right, 'as'))
    throw new StartRefused(`${kind}: the right in \`hold\` has \`as\`: name the roles instead.`);
  return hold;
};

/** The references to the users to whom the personal data of an aggregate belongs. */
const personsOf = ({ kind, fields, declaration }: AnyAggregate): readonly string[] => {
  if (isUser({ name: kind })) return [];
  const { owner } = declaration as { readonly owner?: string };
  const inAll = (all: Fields): readonly string[] =>
    Object.values(all).flatMap(({ def }) => [
      ...(def.personal === undefined ? [] : [def.personal.of ?? owner ?? '']),
      ...inAll(def.item ?? {}),
    ]);
  return [...new Set(inAll(fields).map(referenceAt))].filter((name) => name !== '');
};

/** As an aggregate names its own reference to a person behind several. */
const referenceAt = (path: string): string => {
  const [first = '', ...others] = path.split('.');
  return [first, ...others.map(capital)].join('');
};

const demandFree = (
  { kind, declaration }: AnyAggregate,
  added: Readonly<Record<string, readonly string[]>>,
  why: string,
): void => {
  for (const [part, names] of Object.entries(added))
    for (const name of names)
      if (Object.hasOwn((declaration as unknown as Parts)[part] ?? {}, name))
        throw new StartRefused(
          `${kind}: ${part} has ${name}, which is reserved for ${why}: give it another name.`,
        );
};

/** The declaration with further names in its parts. */
const extended = (aggregate: AnyAggregate, added: Readonly<Record<string, Row>>): AnyAggregate => {
  const declaration = aggregate.declaration as unknown as Parts;
  const parts = Object.entries(added).map(
    ([part, names]) => [part, { ...declaration[part], ...names }] as const,
  );
  return declareUntyped(
    aggregate.kind,
    { ...declaration, ...Object.fromEntries(parts) } as unknown as Parameters<typeof declareUntyped>[1],
    declarerOf(aggregate),
  );
};

const withHold = (aggregate: AnyAggregate): AnyAggregate => {
  demandFree(aggregate, ADDED, '`hold`');
  const { kind, declaration } = aggregate;
  const { right } = holdOf(aggregate) as { readonly right: Row };
  const { scope: _, ...reading } = right;
  const one = spaced(kind);
  const persons = personsOf(aggregate);
  const guarded = guardedEnds(aggregate, 'unheld');
  if (Object.keys(guarded.commands).length === 0)
    throw new StartRefused(
      `${kind}: it has \`hold\`, but no command ends ${oneOf(kind)}: remove it, because nothing can delete one.`,
    );
  return extended(aggregate, {
    fields: fieldsOf(one),
    events: eventsOf(one),
    facts: {
      ...guarded.facts,
      unheld: {
        when: { held: false },
        says: `The ${one} is under a hold: it cannot be deleted until the hold is released.`,
      },
    },
    commands: { ...guarded.commands, ...commandsOf(one, persons) },
    rights: { placeHold: right, releaseHold: right },
    fieldRights: { readHolds: { ...reading, reads: ['holds'] } },
    reactions: reactionsOf(kind, (declaration as unknown as Parts).reactions ?? {}, guarded.commands),
  });
};

const fieldsOf = (one: string): Readonly<Record<string, Field<unknown>>> => ({
  held: flag()
    .default(false)
    .filter()
    .says(`Whether the ${one} is under a hold, so that nobody can delete it.`)
    .example(false),
  holds: list(
    {
      reason: reasonLine()
        .says(`Why the ${one} must be kept, in one line with at least one letter or digit.`)
        .example('Litigation 2026-117'),
      placedBy: ref('user').says('The user who placed the hold. Another person must release it.'),
      placedAt: instant().says('When the hold was placed.'),
    },
    { max: HOLDS_MAX },
  ).says(`The holds on the ${one} that nobody has released yet.`),
});

const eventsOf = (one: string): Readonly<Record<string, Row>> => ({
  holdPlaced: {
    says: `A hold was placed on the ${one}: nobody can delete it until the hold is released.`,
    adds: 'holds',
    fields: ['reason'],
    sets: { placedBy: 'caller', placedAt: 'now' },
  },
  // An event of its own, because more people may see it than the hold.
  held: { says: `The ${one} came under a hold.`, sets: { held: true } },
  holdReleased: { says: `Another person released a hold on the ${one}.`, removes: 'holds' },
  unheld: { says: `The last hold on the ${one} was released.`, sets: { held: false } },
});

type Deciding = {
  readonly state: { readonly held: boolean; readonly holds: readonly Row[] };
  readonly item: Row | null;
  readonly callerId: number | null;
  readonly reads: Readonly<Record<string, Row | null>>;
  readonly refuse: (name: string) => never;
  readonly on: (reference: string, event: string, values: Row) => unknown;
};

const commandsOf = (one: string, persons: readonly string[]): Readonly<Record<string, Row>> => {
  const elsewhere =
    (event: string, by: 1 | -1) =>
    ({ reads, on }: Deciding) =>
      persons.flatMap((person) => {
        const user = reads[person];
        // An erased person needs no protection from erasure.
        return user === null || user === undefined
          ? []
          : [on(person, event, { heldItems: Math.max(Number(user.heldItems) + by, 0) })];
      });
  const also = (event: string) =>
    persons.length === 0 ? {} : { also: Object.fromEntries(persons.map((person) => [person, [event]])) };
  const [counted, uncounted] = [elsewhere('itemHeld', 1), elsewhere('itemReleased', -1)];
  return {
    placeHold: {
      says: `Place a hold on ${oneOf(one)}`,
      emits: ['holdPlaced', 'held'],
      ...also('itemHeld'),
      decide: (given: Deciding) =>
        given.state.held ? ['holdPlaced'] : ['holdPlaced', 'held', ...counted(given)],
    },
    releaseHold: {
      says: `Release a hold on ${oneOf(one)} that another person placed`,
      emits: ['holdReleased', 'unheld'],
      reason: 'required',
      ...also('itemReleased'),
      refuses: {
        ownHold: 'You have placed this hold yourself: another person must release it.',
      },
      decide: (given: Deciding) => {
        if (given.item?.placedBy === given.callerId) return given.refuse('ownHold');
        return given.state.holds.length > 1
          ? ['holdReleased']
          : ['holdReleased', 'unheld', ...uncounted(given)];
      },
    },
  };
};

/** The commands that end the aggregate, each with a condition more. */
const guardedEnds = (
  { declaration }: AnyAggregate,
  ...guards: readonly string[]
): { readonly commands: Readonly<Record<string, Row>>; readonly facts: Row } => {
  const events = (declaration as unknown as Parts).events as Readonly<Record<string, Row>>;
  const declared = (declaration as unknown as Parts).commands as Readonly<Record<string, Row>>;
  const facts: Record<string, unknown> = {};
  const ending = Object.entries(declared).filter(([, { emits }]) =>
    [emits].flat().some((event) => events[String(event)]?.ends !== undefined),
  );
  const commands = ending.map(([name, command]) => {
    const { when } = command;
    const asked = Object.fromEntries(guards.map((guard) => [guard, true]));
    if (when === undefined) return [name, { ...command, when: asked }] as const;
    if (typeof when === 'string') return [name, { ...command, when: { [when]: true, ...asked } }] as const;
    if (!Array.isArray(when)) return [name, { ...command, when: { ...(when as Row), ...asked } }] as const;
    // Alternatives are a fact, so that they can stand beside another condition.
    const fact = `readyTo${capital(name)}`;
    facts[fact] = when;
    return [name, { ...command, when: { [fact]: true, ...asked } }] as const;
  });
  return { commands: Object.fromEntries(commands), facts };
};

/**
 * A held aggregate outlives the targets with which it would have ended. After its last hold it ends, if one of them
 * has: `command/process-manager/overtaken.ts` looks.
 */
const reactionsOf = (kind: string, declared: Row, ending: Readonly<Record<string, Row>>): Row => {
  const all = Object.values(declared).flatMap((reactions) =>
    typeof reactions === 'function' ? [] : Object.values(reactions as Readonly<Record<string, Row>>),
  );
  const ends = all.filter(({ run }) => Object.hasOwn(ending, String(run)));
  if (ends.length === 0) return {};
  return {
    unheld: ({ state }: { readonly state: { readonly id: number } }): readonly Commanded[] =>
      ends.map(({ run, when }) => ({ kind, command: String(run), id: state.id, form: {}, when })),
  };
};

/** Personal data of users is in aggregates too: one that is held keeps its person from being erased. */
const withHeldItems = (user: AnyAggregate): AnyAggregate => {
  demandFree(user, ADDED_TO_USERS, 'holds on personal data');
  const guarded = guardedEnds(user, 'itemsUnheld');
  const computes = ['heldItems'];
  return extended(user, {
    fields: {
      heldItems: integer(0, HELD_ITEMS_MAX)
        .default(0)
        .says('The number of items with personal data of the user that are under a hold.'),
    },
    events: {
      itemHeld: {
        says: 'A hold was placed on an item with personal data of the user, who cannot be deleted until it is released.',
        computes,
      },
      itemReleased: {
        says: 'The last hold on an item with personal data of the user was released.',
        computes,
      },
    },
    facts: {
      ...guarded.facts,
      itemsUnheld: {
        when: { heldItems: 0 },
        says: 'Something with personal data of the user is under a hold: the user cannot be deleted until the hold is released.',
      },
    },
    commands: guarded.commands,
    fieldRights: { readHeldItems: { reads: computes } },
  });
};

/** The codes say what is the case: `claim_held`. */
export const withCodesOfHolds = (kind: Kind): Kind => {
  const { unheld, itemsUnheld } = kind.refusals;
  const coded = {
    ...(kind.hold && unheld && { unheld: { ...unheld, code: refusedAs(kind.name, 'held') } }),
    ...(isUser(kind) &&
      itemsUnheld && { itemsUnheld: { ...itemsUnheld, code: refusedAs(kind.name, 'data_held') } }),
  };
  return { ...kind, refusals: { ...kind.refusals, ...coded } };
};
