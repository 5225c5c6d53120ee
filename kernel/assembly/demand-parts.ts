import { isUser } from '../base/users.ts';
import { always } from '../conditions/expression.ts';
import {
  addsBesidePart,
  guardOfField,
  type PartRight,
  partOfItems,
  partRightsOf,
} from '../conditions/parts-of.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';
import { eachEvent, eachKind, type Sentences } from './refusals.ts';

/**
 * Refuses rights to parts that some interface cannot enforce, each with a message that names the place and a
 * solution.
 */
export const demandParts = eachKind(
  eachRight(wrongRight, wrongFields),
  twiceIn,
  eachRight(wrongItems),
  wrongDerived,
  eachEvent(wrongEvent),
);

function eachRight(...rules: readonly ((right: PartRight, kind: Kind) => Sentences)[]) {
  return function* (kind: Kind): Sentences {
    for (const right of partRightsOf(kind)) for (const rule of rules) yield* rule(right, kind);
  };
}

function* wrongDerived(kind: Kind): Sentences {
  for (const { name, list } of kind.derived) {
    const part = partOfItems(kind, list);
    if (part !== undefined && guardOfField(kind, name) !== part.name)
      yield `${name} is derived from all of its ${list.name}, some of which only callers with the right ${part.name} may read: add ${name} to the \`reads\` of ${part.name}.`;
  }
}

function* wrongRight({ name }: PartRight, kind: Kind): Sentences {
  const { scope, writes, reads = [], items = {} } = kind.fieldRights[name] ?? {};
  const isToNothing = (reads as readonly string[]).length + Object.keys(items as Row).length === 0;
  const isOfDomain = !isUser(kind);
  if (name in kind.commands || name === 'read' || name === 'write')
    yield `the right ${name} to parts has the name of another right: give it another name.`;
  // The domain’s own rights may cover all of what a user alone reads otherwise.
  if (isToNothing && (isOfDomain || name !== 'readPrivate'))
    yield `the right ${name} covers no part of it: name fields or lists, or remove the right.`;
  if (isOfDomain && scope !== undefined)
    yield `the right ${name} to parts has its own scope: remove it; the right uses the scope of the right to read.`;
  if (isOfDomain && writes !== undefined)
    yield `the right ${name} has \`writes\`, which is for users only: declare separate commands with rights of their own.`;
}

const MOMENTS = new Set(['createdAt', 'updatedAt']);

function* wrongFields(right: PartRight, { name, fields, owner, parent, label }: Kind): Sentences {
  for (const field of right.fields) {
    const def = fields[field];
    const place = `the right ${right.name} covers ${field},`;
    if (def === undefined && !MOMENTS.has(field))
      yield `${place} which is not one of its fields: use one of them.`;
    if (def === undefined && field === 'createdAt' && !isUser({ name }))
      yield `${place} which the id reveals: remove it from the right.`;
    if (field === owner || field === parent)
      yield `${place} which every event contains: remove it from the right.`;
    if (field === label)
      yield `${place} which is shown wherever the aggregate is referenced: remove it from the right, or choose another label.`;
    if (def?.kind === 'states')
      yield `${place} a state that the available commands reveal: declare its parts as separate fields.`;
    if (def?.kind === 'upload')
      yield `${place} whose files are as visible as the aggregate: remove it from the right.`;
    if (def?.search !== undefined) yield `${place} which everybody can search: remove search() from it.`;
    if (def?.unique && !isUser({ name }))
      yield `${place} but unique() reveals to writers which values are taken: remove unique() from it.`;
  }
}

function* twiceIn(kind: Kind): Sentences {
  const seen = new Map<string, string>();
  for (const { name, fields, items } of partRightsOf(kind))
    for (const part of [...fields, ...items.map(({ list }) => list.name)]) {
      const first = seen.get(part);
      if (first !== undefined) yield `${part} is in the rights ${first} and ${name}: keep it in one of them.`;
      seen.set(part, name);
    }
}

/** Types of fields that can select items, because every event of an item contains them. */
const TELLING: ReadonlySet<FieldDef['kind']> = new Set(['boolean', 'choice', 'integer', 'text', 'instant']);

function* wrongItems({ name: right }: PartRight, kind: Kind): Sentences {
  const items = (kind.fieldRights[right]?.items ?? {}) as Record<string, Row>;
  for (const [name, values] of Object.entries(items)) {
    const list = kind.lists[name];
    if (list === undefined)
      return yield `the right ${right} covers items of ${name}, which is not one of its lists: use one of them.`;
    const asked = Object.keys(values);
    const place = `the right ${right} covers some items of ${name}`;
    if (asked.length === 0)
      yield `${place}, but does not say which: name fields of the items, or the list in \`reads\`.`;
    if (list.key !== undefined)
      yield `${place}, whose key ${list.key} reveals to writers which items exist: remove \`key\`, so that items are numbered.`;
    const strange = asked.find(
      (field) => !TELLING.has(list.fields[field]?.kind ?? 'value') || list.fields[field]?.personal,
    );
    if (strange !== undefined)
      yield `${place}, selected by ${strange}, which not every event can contain: use a flag, a choice, a number, a text or an instant that is not personal.`;
    const changing = Object.values(kind.events).find(
      (event) => event.list === list && event.effect === 'updates',
    );
    if (changing !== undefined && Object.keys(list.fields).every((field) => asked.includes(field)))
      yield `${place}, selected by all fields that the event ${changing.name} could change: remove that event.`;
  }
}

/** The type of an event reveals its effect to everyone who can see the event. */
function* wrongEvent(event: EventInfo, kind: Kind): Sentences {
  const { effect, list, sets, values, hidden } = event;
  if (hidden || effect === 'creates') return;
  const part = list && partOfItems(kind, list);
  if (list !== undefined && part !== undefined && !addsBesidePart(part, event)) {
    const [other] = Object.keys(sets).filter((field) => guardOfField(kind, field) !== part.name);
    if (other === undefined) return;
    const items = part.of === always ? list.name : `some of ${list.name}`;
    yield `changes ${items}, which only callers with the right ${part.name} may read, and also sets ${other}: let another event set it.`;
  }
  const guards = new Set([...Object.keys(sets), ...values].map((field) => guardOfField(kind, field)));
  const guarded = Object.keys(sets).find((field) => guardOfField(kind, field) !== undefined);
  if (guarded !== undefined && (guards.size > 1 || list !== undefined))
    yield `sets ${guarded}, which only callers with the right ${guardOfField(kind, guarded)} may read, and also makes a change that others see: let another event make that change.`;
}
