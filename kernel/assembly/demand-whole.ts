import { StartRefused } from '../base/start-refused.ts';
import { type AnyAggregate, WORDS_OF_EVENTS } from '../declare/aggregate.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { AnyView } from '../declare/view.ts';

const PARTS = ['fields', 'events', 'commands', 'rights'] as const;
const FLAGS = ['ends', 'subscribe', 'hidden'] as const;
const CONTENT = ['creates', 'changes', 'computes'] as const;
/** Events of items name fields of the item. */
const OF_ITEMS = ['adds', 'updates', 'moves', 'removes'] as const;

/**
 * Refuses declarations that lack a part, or whose words name nothing. The compiler refuses them too, but a
 * start does not run it. Runs on the raw declaration, before any lookup.
 */
export const demandWhole = (aggregates: readonly AnyAggregate[], views: readonly AnyView[]): void => {
  const [wrong] = [
    ...twiceIn(aggregates),
    ...aggregates.flatMap((each) => [
      ...missingIn(each),
      ...misorderedIn(each),
      ...unknownIn(each),
      ...undecidedIn(each),
    ]),
    ...views.flatMap(unsourcedIn),
  ];
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const twiceIn = (aggregates: readonly AnyAggregate[]): readonly string[] => {
  const names = aggregates.map(({ kind }) => kind);
  return names
    .filter((name, index) => names.indexOf(name) < index)
    .map((name) => `There are two aggregates named ${name}: give one of them another name.`);
};

const missingIn = ({ kind, declaration }: AnyAggregate): readonly string[] =>
  PARTS.filter((part) => typeof declaration[part] !== 'object' || declaration[part] === null).map(
    (part) => `${kind}: the declaration has no \`${part}\`: declare them, if need be as \`{}\`.`,
  );

const ORDERS: readonly unknown[] = ['oldest', 'newest', undefined];

const misorderedIn = ({ kind, declaration: { order } }: AnyAggregate): readonly string[] =>
  ORDERS.includes(order)
    ? []
    : [`${kind}: lists cannot have the \`order\` ${String(order)}: write 'oldest' or 'newest'.`];

/** `of` and `from` of a view name the same aggregates. */
const unsourcedIn = ({ view, of, from }: AnyView): readonly string[] => {
  if (!Array.isArray(of))
    return [`${view}: \`of\` does not list the aggregates from whose events it is built: name them.`];
  const names = of.map((source) => String(source?.kind));
  return [
    ...names
      .filter((name) => !Object.hasOwn(from, name))
      .map((name) => `${view}: it is made \`of\` ${name}, but \`from\` does not have it: add it there.`),
    ...Object.keys(from)
      .filter((name) => !names.includes(name))
      .map((name) => `${view}: \`from\` has ${name}, but it is not made \`of\` it: add it there.`),
  ];
};

const unknownIn = ({ kind, declaration }: AnyAggregate): readonly string[] => {
  const fields = declaration.fields ?? {};
  const derived = declaration.derived ?? {};
  const events = (declaration.events ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return Object.entries(events).flatMap(([event, spec]) => [
    ...Object.keys(spec)
      .filter((word) => !WORDS_OF_EVENTS.includes(word))
      .map(
        (word) =>
          `${kind}: the event ${event} has \`${word}\`, which is no word of events: use one of ${WORDS_OF_EVENTS.join(', ')}.`,
      ),
    ...FLAGS.filter((flag) => spec[flag] !== undefined && spec[flag] !== true).map(
      (flag) => `${kind}: the event ${event} has \`${flag}\` with another value than true: remove it.`,
    ),
    ...namesIn(spec.carries)
      .filter((name) => !Object.hasOwn(derived as object, name) && !isCarried(fields, name))
      .map(
        (name) =>
          `${kind}: the event ${event} carries ${name}, which is neither a field with a value of its own nor a derived number: use one of those.`,
      ),
    ...(OF_ITEMS.some((effect) => spec[effect] !== undefined) ? [] : CONTENT).flatMap((effect) =>
      namesIn(spec[effect]).flatMap((name) => {
        const def = Object.hasOwn(fields, name) ? fields[name]?.def : undefined;
        const place = `${kind}: the event ${event} ${effect} ${name}`;
        return isContent(def)
          ? []
          : [`${place}, which is not a field that forms can have: use another field.`];
      }),
    ),
  ]);
};

const undecidedIn = ({ kind, declaration }: AnyAggregate): readonly string[] => {
  const commands = (declaration.commands ?? {}) as Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
  return Object.entries(commands).flatMap(([command, { emits, decide }]) =>
    Array.isArray(emits) && typeof decide !== 'function'
      ? [
          `${kind}: the command ${command} emits a list of events, but has no \`decide\` that chooses: declare it.`,
        ]
      : [],
  );
};

const namesIn = (names: unknown): readonly string[] => (Array.isArray(names) ? names.map(String) : []);

const isCarried = (fields: Readonly<Record<string, { readonly def: FieldDef }>>, name: string): boolean =>
  Object.hasOwn(fields, name) && fields[name]?.def.kind !== 'list';

const isContent = (def: FieldDef | undefined): boolean =>
  def !== undefined && def.kind !== 'list' && def.kind !== 'states';
