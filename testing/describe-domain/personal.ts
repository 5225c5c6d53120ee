import { targetOf } from '#kernel/base/names.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { fieldsOfForm } from './forms.ts';
import { hasRoom } from './values.ts';

/** By a reference to a user, or by a path to one, which the creation follows. */
export const isOfPerson = (kind: Kind, def: FieldDef): boolean => {
  const of = def.personal?.of ?? kind.owner;
  if (def.personal === undefined) return false;
  const first = of?.split('.')[0];
  return (
    of === undefined ||
    Object.values(kind.persons).some(([step]) => step === first) ||
    (kind.fields[of] !== undefined && targetOf(kind.fields[of]) === 'user')
  );
};

export const hasPersonalData = (kind: Kind): boolean =>
  [kind.fields, ...Object.values(kind.lists).map(({ fields }) => fields)].some((fields) =>
    Object.values(fields).some((def) => isOfPerson(kind, def)),
  );

export const markNamed = ({ name }: Kind, { list }: Pick<CommandInfo, 'list'>, field: string): string =>
  `${name}.${list === undefined ? '' : `${list.name}.`}${field}`;

/** The personal texts in forms, by the names under which checks are counted. */
export const personalFields = (kind: Kind): readonly string[] => [
  ...new Set(
    Object.values(kind.commands).flatMap((command) =>
      command.internal
        ? []
        : fieldsOfForm(kind, command).flatMap(([name, def]) =>
            def.kind === 'text' && isOfPerson(kind, def) && hasRoom(def)
              ? [markNamed(kind, command, name)]
              : [],
          ),
    ),
  ),
];
