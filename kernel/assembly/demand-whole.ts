import type { AnyAggregate, AnyDeclaration } from '../declare/aggregate.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { AnyView } from '../declare/view.ts';
import { WORDS_OF_EVENTS, WORDS_OF_LIMITS } from '../declare/words.ts';
import { placed, type Sentences } from './refusals.ts';

const PARTS = ['fields', 'events', 'commands', 'rights'] as const;
const FLAGS = ['ends', 'subscribe', 'hidden'] as const;
const CONTENT = ['creates', 'changes', 'computes'] as const;
/** Events of items name fields of the item. */
const OF_ITEMS = ['adds', 'updates', 'moves', 'removes'] as const;

type Specs = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Refuses declarations that lack a part, or whose words name nothing. The compiler refuses them too, but a
 * start does not run it. Runs on the raw declaration, before any lookup.
 */
export function* demandWhole(aggregates: readonly AnyAggregate[], views: readonly AnyView[]): Sentences {
  const names = aggregates.map(({ kind }) => kind);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      yield `There are two aggregates named ${name}: give one of them another name.`;
  for (const { kind, declaration } of aggregates) {
    for (const part of PARTS)
      if (typeof declaration[part] !== 'object' || declaration[part] === null)
        yield `${kind}: the declaration has no \`${part}\`: declare them, if need be as \`{}\`.`;
    if (!ORDERS.includes(declaration.order))
      yield `${kind}: lists cannot have the \`order\` ${String(declaration.order)}: write 'oldest' or 'newest'.`;
    for (const [event, spec] of Object.entries(declaration.events as Specs))
      yield* placed(`${kind}: the event ${event} `, unknownIn(spec, declaration));
    for (const [limit, spec] of Object.entries((declaration.limits ?? {}) as Specs))
      yield* placed(`${kind}: the limit ${limit} `, strangeWords('limits', spec, WORDS_OF_LIMITS));
    for (const [command, { emits, decide }] of Object.entries(declaration.commands as Specs))
      if (Array.isArray(emits) && typeof decide !== 'function')
        yield `${kind}: the command ${command} emits a list of events, but has no \`decide\` that chooses: declare it.`;
  }
  for (const view of views) yield* placed(`${view.view}: `, unsourcedIn(view));
}

const ORDERS: readonly unknown[] = ['oldest', 'newest', undefined];

/** `of` and `from` of a view name the same aggregates. */
function* unsourcedIn({ of, from }: AnyView): Sentences {
  if (!Array.isArray(of))
    return yield '`of` does not list the aggregates from whose events it is built: name them.';
  const names = of.map((source) => String(source?.kind));
  for (const name of names)
    if (!Object.hasOwn(from, name))
      yield `it is made \`of\` ${name}, but \`from\` does not have it: add it there.`;
  for (const name of Object.keys(from))
    if (!names.includes(name)) yield `\`from\` has ${name}, but it is not made \`of\` it: add it there.`;
}

function* unknownIn(spec: Specs[string], { fields, parent, derived = {} }: AnyDeclaration): Sentences {
  const defOf = (name: string): FieldDef | undefined =>
    Object.hasOwn(fields, name) ? fields[name]?.def : undefined;
  yield* strangeWords('events', spec, WORDS_OF_EVENTS);
  for (const flag of FLAGS)
    if (spec[flag] !== undefined && spec[flag] !== true)
      yield `has \`${flag}\` with another value than true: remove it.`;
  for (const name of namesIn(spec.carries))
    if (!Object.hasOwn(derived, name) && [undefined, 'list'].includes(defOf(name)?.kind))
      yield `carries ${name}, which is neither a field with a value of its own nor a derived number: use one of those.`;
  if (spec.moves !== undefined && spec.moves !== parent && defOf(String(spec.moves))?.kind !== 'list')
    yield `moves ${String(spec.moves)}, which is neither a list nor the \`parent\`: use one of those.`;
  for (const effect of OF_ITEMS.some((each) => spec[each] !== undefined) ? [] : CONTENT)
    for (const name of namesIn(spec[effect]))
      if ([undefined, 'list', 'states'].includes(defOf(name)?.kind))
        yield `${effect} ${name}, which is not a field that forms can have: use another field.`;
}

function* strangeWords(what: string, spec: Specs[string], words: readonly string[]): Sentences {
  for (const word of Object.keys(spec))
    if (!words.includes(word))
      yield `has \`${word}\`, which is no word of ${what}: use one of ${words.join(', ')}.`;
}

const namesIn = (names: unknown): readonly string[] => (Array.isArray(names) ? names.map(String) : []);
