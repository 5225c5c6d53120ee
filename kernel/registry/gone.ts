import { capital, spaced, targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef, Fields } from '../declare/fields.ts';
import type { Kind, Row } from './registry.ts';

/**
 * A reference with `gone: 'null'` has an event that empties it, an internal command, and a reaction to each end
 * of its target: so rows, histories, views and conditions follow from the log, as for any other change.
 */
type Emptied = {
  /** Of the event, and of its command. */
  readonly name: string;
  readonly path: string;
  readonly def: FieldDef;
  readonly event: Row;
};

const emptiedIn = (fields: Fields): readonly Emptied[] =>
  Object.entries(fields).flatMap(([name, { def }]): readonly Emptied[] => {
    if (def.gone !== undefined)
      return [emptied({ name: `${name}Gone`, path: name, def }, { sets: { [name]: null } })];
    return Object.entries(def.item ?? {}).flatMap(([field, { def: each }]) =>
      each.gone === undefined
        ? []
        : [
            emptied(
              { name: `${name}${capital(field)}Gone`, path: `${name}.${field}`, def: each },
              { updates: name, sets: { [field]: null } },
            ),
          ],
    );
  });

const emptied = (reference: Omit<Emptied, 'event'>, effect: Row): Emptied => ({
  ...reference,
  event: {
    says: `The ${spaced(reference.path.split('.').at(-1) ?? '')} ended, so that the reference to it became null.`,
    ...effect,
    gone: true,
  },
});

type Specs = Readonly<Record<string, Row>>;

export const withEventsOfEnds = (kind: string, fields: Fields, declared: Specs): Specs => {
  const all = emptiedIn(fields);
  const taken = all.find(({ name }) => Object.hasOwn(declared, name));
  if (taken !== undefined)
    throw new StartRefused(
      `${kind}: the event ${taken.name} is reserved for \`gone\` of ${taken.path}: give yours another name.`,
    );
  return { ...declared, ...Object.fromEntries(all.map(({ name, event }) => [name, event])) };
};

export const withCommandsOfEnds = (kind: string, fields: Fields, declared: Specs): Specs => {
  const all = emptiedIn(fields);
  const taken = all.find(({ name }) => Object.hasOwn(declared, name));
  if (taken !== undefined)
    throw new StartRefused(
      `${kind}: the command ${taken.name} is reserved for \`gone\` of ${taken.path}: give yours another name.`,
    );
  return {
    ...declared,
    ...Object.fromEntries(all.map(({ name }) => [name, { emits: name, internal: true }])),
  };
};

/** The ends of a target are known once all kinds are. */
export const withReactionsToEnds = (kind: Kind, fields: Fields, kinds: readonly Kind[]): Kind => {
  const all = emptiedIn(fields);
  if (all.length === 0) return kind;
  const reactions: Record<string, Kind['reactions'][string]> = { ...kind.reactions };
  for (const { name, path, def } of all) {
    const target = kinds.find((each) => each.name === targetOf(def));
    const ends = Object.values(target?.events ?? {}).filter(({ effect }) => effect === 'ends');
    const declared = reactions[path] ?? {};
    const taken = ends.find((end) => Object.hasOwn(declared, end.name));
    if (taken !== undefined)
      throw new StartRefused(
        `${kind.name}: ${path} becomes null when its target ends, but a reaction follows ${taken.type} too: remove \`gone\` or the reaction.`,
      );
    reactions[path] = { ...declared, ...Object.fromEntries(ends.map((end) => [end.name, { run: name }])) };
  }
  return { ...kind, reactions };
};
