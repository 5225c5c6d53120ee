import { StartRefused } from '../base/start-refused.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import type { FieldDef } from '../declare/fields.ts';

const PARTS = ['fields', 'events', 'commands', 'rights'] as const;
const FLAGS = ['ends', 'subscribe', 'hidden'] as const;
const CONTENT = ['creates', 'changes', 'computes'] as const;
/** Events of items name fields of the item. */
const OF_ITEMS = ['adds', 'updates', 'moves', 'removes'] as const;

/**
 * Refuses declarations that lack a part, or whose events name fields that do not exist. The compiler refuses
 * them too, but a start does not run it. Runs on the raw declaration, before any lookup.
 */
export const demandWhole = (aggregates: readonly AnyAggregate[]): void => {
  const [wrong] = aggregates.flatMap((each) => [
    ...missingIn(each),
    ...unknownIn(each),
    ...undecidedIn(each),
  ]);
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const missingIn = ({ kind, declaration }: AnyAggregate): readonly string[] =>
  PARTS.filter((part) => typeof declaration[part] !== 'object' || declaration[part] === null).map(
    (part) => `${kind}: the declaration has no \`${part}\`: declare them, if need be as \`{}\`.`,
  );

const unknownIn = ({ kind, declaration }: AnyAggregate): readonly string[] => {
  const fields = declaration.fields ?? {};
  const derived = declaration.derived ?? {};
  const events = (declaration.events ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  return Object.entries(events).flatMap(([event, spec]) => [
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
