import { StartRefused } from '../base/start-refused.ts';
import { always } from '../conditions/expression.ts';
import {
  addsBesidePart,
  guardOfField,
  type PartRight,
  partOfItems,
  partRightsOf,
} from '../conditions/parts-of.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, EventInfo, Kind, Row } from '../registry/registry.ts';

/**
 * Refuses rights to parts that some interface cannot enforce, each with a message that names the place and a
 * solution.
 */
export const demandParts = ({ kinds }: Domain): void => {
  const [wrong] = Object.values(kinds).flatMap((kind) =>
    wrongPartsIn(kind).map((each) => `${kind.name}: ${each}`),
  );
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const wrongPartsIn = (kind: Kind): readonly string[] => {
  const rights = partRightsOf(kind);
  return [
    ...rights.flatMap((right) => [
      ...wrongRight(kind, right),
      ...right.fields.flatMap((field) => wrongField(kind, right.name, field)),
    ]),
    ...twiceIn(rights),
    ...rights.flatMap(({ name }) => wrongItems(kind, name)),
    ...kind.derived.flatMap((each) => {
      const part = partOfItems(kind, each.list);
      if (part === undefined || guardOfField(kind, each.name) === part.name) return [];
      return [
        `${each.name} is derived from all of its ${each.list.name}, some of which only callers with the right ${part.name} may read: add ${each.name} to the \`reads\` of ${part.name}.`,
      ];
    }),
    ...Object.values(kind.events).flatMap((event) => wrongEvent(kind, event)),
  ];
};

const wrongRight = (kind: Kind, { name }: PartRight): readonly string[] => {
  const { scope, writes, reads = [], items = {} } = kind.fieldRights[name] ?? {};
  const isToNothing = (reads as readonly string[]).length + Object.keys(items as Row).length === 0;
  const isOfDomain = kind.name !== 'user';
  return [
    ...(name in kind.commands || name === 'read' || name === 'write'
      ? [`the right ${name} to parts has the name of another right: give it another name.`]
      : []),
    // The domain’s own rights may cover all of what a user alone reads otherwise.
    ...(isToNothing && (isOfDomain || name !== 'readPrivate')
      ? [`the right ${name} covers no part of it: name fields or lists, or remove the right.`]
      : []),
    ...(isOfDomain && scope !== undefined
      ? [
          `the right ${name} to parts has its own scope: remove it; the right uses the scope of the right to read.`,
        ]
      : []),
    ...(isOfDomain && writes !== undefined
      ? [
          `the right ${name} has \`writes\`, which is for users only: declare separate commands with rights of their own.`,
        ]
      : []),
  ];
};

const MOMENTS = new Set(['createdAt', 'updatedAt']);

const wrongField = (kind: Kind, right: string, field: string): readonly string[] => {
  const { name, fields, owner, parent, label } = kind;
  const def = fields[field];
  const refused = (why: string): readonly string[] => [`the right ${right} covers ${field}, ${why}`];
  if (def === undefined) {
    if (!MOMENTS.has(field)) return refused('which is not one of its fields: use one of them.');
    return field === 'createdAt' && name !== 'user'
      ? refused('which the id reveals: remove it from the right.')
      : [];
  }
  if (field === owner || field === parent)
    return refused('which every event contains: remove it from the right.');
  if (field === label)
    return refused(
      'which is shown wherever the aggregate is referenced: remove it from the right, or choose another label.',
    );
  if (def.kind === 'states')
    return refused('a state that the available commands reveal: declare its parts as separate fields.');
  if (def.kind === 'upload')
    return refused('whose files are as visible as the aggregate: remove it from the right.');
  if (def.search !== undefined) return refused('which everybody can search: remove search() from it.');
  if (def.unique && name !== 'user')
    return refused('but unique() reveals to writers which values are taken: remove unique() from it.');
  return [];
};

const twiceIn = (rights: readonly PartRight[]): readonly string[] => {
  const all = rights.flatMap(({ name, fields, items }) =>
    [...fields, ...items.map(({ list }) => list.name)].map((part) => ({ name, part })),
  );
  return all.flatMap(({ name, part }, index) => {
    const first = all.slice(0, index).find((each) => each.part === part);
    return first === undefined
      ? []
      : [`${part} is in the rights ${first.name} and ${name}: keep it in one of them.`];
  });
};

/** Types of fields that can select items, because every event of an item contains them. */
const TELLING: ReadonlySet<FieldDef['kind']> = new Set(['boolean', 'choice', 'integer', 'text', 'instant']);

const wrongItems = (kind: Kind, right: string): readonly string[] =>
  Object.entries((kind.fieldRights[right]?.items ?? {}) as Record<string, Row>).flatMap(([name, values]) => {
    const list = kind.lists[name];
    if (list === undefined)
      return [`the right ${right} covers items of ${name}, which is not one of its lists: use one of them.`];
    const asked = Object.keys(values);
    const place = `the right ${right} covers some items of ${name}`;
    const strange = asked.find(
      (field) => !TELLING.has(list.fields[field]?.kind ?? 'value') || list.fields[field]?.personal,
    );
    const changing = Object.values(kind.events).find(
      (event) => event.list === list && event.effect === 'updates',
    );
    return [
      ...(asked.length === 0
        ? [`${place}, but does not say which: name fields of the items, or the list in \`reads\`.`]
        : []),
      ...(list.key !== undefined
        ? [
            `${place}, whose key ${list.key} reveals to writers which items exist: remove \`key\`, so that items are numbered.`,
          ]
        : []),
      ...(strange !== undefined
        ? [
            `${place}, selected by ${strange}, which not every event can contain: use a flag, a choice, a number, a text or an instant that is not personal.`,
          ]
        : []),
      ...(changing !== undefined && Object.keys(list.fields).every((field) => asked.includes(field))
        ? [
            `${place}, selected by all fields that the event ${changing.name} could change: remove that event.`,
          ]
        : []),
    ];
  });

/** The type of an event reveals its effect to everyone who can see the event. */
const wrongEvent = (kind: Kind, event: EventInfo): readonly string[] => {
  const { name, effect, list, sets, values, hidden } = event;
  if (hidden || effect === 'creates') return [];
  const part = list && partOfItems(kind, list);
  const guards = new Set([...Object.keys(sets), ...values].map((field) => guardOfField(kind, field)));
  if (list !== undefined && part !== undefined && !addsBesidePart(part, event)) {
    const [other] = Object.keys(sets).filter((field) => guardOfField(kind, field) !== part.name);
    if (other === undefined) return [];
    const items = part.of === always ? list.name : `some of ${list.name}`;
    return [
      `the event ${name} changes ${items}, which only callers with the right ${part.name} may read, and also sets ${other}: let another event set it.`,
    ];
  }
  const guarded = Object.keys(sets).find((field) => guardOfField(kind, field) !== undefined);
  if (guarded === undefined || (guards.size === 1 && list === undefined)) return [];
  return [
    `the event ${name} sets ${guarded}, which only callers with the right ${guardOfField(kind, guarded)} may read, and also makes a change that others see: let another event make that change.`,
  ];
};
