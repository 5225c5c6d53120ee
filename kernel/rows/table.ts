import { column } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { leadsToUser } from '../base/users.ts';
import type { FieldDef, Part } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { staysWhenEnded } from '../registry/stays-when-ended.ts';
import type { Table } from './change.ts';

/** The table with the states of one kind of aggregate. */
export const tableOf = (kind: Kind): Table => {
  const owned = kind.parent ?? kind.owner;
  const personal = personalIn(kind);
  return {
    name: kind.table,
    kind: kind.name,
    columns: {
      id: 'bigint',
      ...typed(
        columnsOf(kind)
          .filter(([name]) => !isMoment(kind, name))
          .flatMap(withSeal(sealedUpTo(kind))),
      ),
      version: 'integer',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
      ...typed(
        columnsOf(kind)
          .filter(([name]) => isMoment(kind, name))
          .flatMap(typesOf),
      ),
      ...(staysWhenEnded(kind) && { deleted_at: 'timestamptz' }),
    },
    parent: staysWhenEnded(kind) || owned === undefined ? null : column(owned, kind.fields[owned]),
    personal: personal.flatMap((field) => partsOf(...field).map((part) => part.column)),
    person: personOf(kind),
  };
};

type Named = readonly [name: string, def: FieldDef];
type Typed = readonly [column: string, type: string];

const typed = (columns: readonly Typed[]): Readonly<Record<string, string>> => Object.fromEntries(columns);
const typesOf = (field: Named): readonly Typed[] =>
  partsOf(...field).map(({ column: each, type }) => [each, type]);

/** The columns of a field, with the part of the value that each stores. */
export const partsOf = (name: string, def: FieldDef): readonly Part[] =>
  def.parts ?? [{ column: column(name, def), type: def.column, of: whole }];
const whole = (value: unknown): unknown => value;

/** One seal covers all personal columns, and follows the first group of them. */
const withSeal =
  (last: string | undefined) =>
  (field: Named): readonly Typed[] =>
    field[0] === last ? [...typesOf(field), ['seal', 'text']] : typesOf(field);
const sealedUpTo = (kind: Kind): string | undefined =>
  columnsOf(kind).find(([, { personal }], index, all) => personal && !all[index + 1]?.[1].personal)?.[0];

/** A time of an event, beyond those of creation and last change. */
const isMoment = ({ events }: Kind, name: string): boolean =>
  Object.values(events).some(({ sets }) => sets[name] === 'now');

export const columnsOf = (kind: Kind): readonly (readonly [string, FieldDef])[] =>
  Object.entries(kind.fields);

const personalIn = (kind: Kind): readonly (readonly [string, FieldDef])[] =>
  columnsOf(kind).filter(([, def]) => def.personal);

/**
 * All personal fields of an aggregate and of its items belong to one person, because an event is sealed under
 * one key.
 */
const personOf = (kind: Kind): string | null => {
  const ofItems = Object.values(kind.lists).flatMap(({ fields }) =>
    Object.values(fields).filter(({ personal }) => personal),
  );
  const own = personalIn(kind).map(([, def]) => def);
  const persons = new Set([...own, ...ofItems].map((def) => def.personal?.of ?? kind.owner));
  const [person] = persons;
  if (persons.size > 1)
    throw new StartRefused(
      `${kind.name}: its personal fields belong to several persons, ${[...persons].join(' and ')}: keep those of one person, or declare an aggregate for the others.`,
    );
  if (own.length === 0) return null;
  if (person === undefined && staysWhenEnded(kind)) return 'id';
  const def = person === undefined ? undefined : kind.fields[person];
  if (!def || !leadsToUser(def))
    throw new StartRefused(
      `${kind.name}: its personal fields belong to no user: name the reference to the user in \`of\`.`,
    );
  return column(person ?? '', def);
};
