import { areEqual } from '#kernel/decide/are-equal.ts';
import { wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';

/** The rights to single fields that a command needs beside its own. */
export type FieldRights = {
  /** To be told of the content. */
  readonly reads: readonly string[];
  /** What stays as it is may be named by everybody, so that what was read can be put back. */
  writes(form: Row, fields: Row): readonly string[];
};

export const fieldRightsOf = (kind: Kind, command: CommandInfo): FieldRights => {
  const touching = (way: 'reads' | 'writes') =>
    Object.entries(kind.fieldRights).flatMap(([right, row]) => {
      const names = (row[way] ?? []) as readonly string[];
      const touched = command.form.filter((name) => names.includes(name));
      return touched.length === 0 ? [] : [{ right, touched: touched.map((name) => [name, wire(name, kind.fields[name])] as const) }];
    });
  const writes = touching('writes');
  return {
    reads: touching('reads').map(({ right }) => right),
    writes: (form, fields) =>
      writes.flatMap(({ right, touched }) =>
        touched.some(([name, key]) => form[key] !== undefined && !areEqual(form[key], fields[name])) ? [right] : [],
      ),
  };
};
