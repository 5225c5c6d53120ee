import { PICTURE_BYTES_MAX } from '../base/image-type.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '../registry/registry.ts';
import { type Accepted, acceptedBy } from './accepted-files.ts';
import { editOf } from './forms.ts';

/** A field for an upload, of an aggregate or of the items of a list, and the command that sets it. */
export type UploadField = {
  readonly name: string;
  readonly list: ListInfo | undefined;
  readonly command: CommandInfo;
  /** A required file can be replaced only. */
  readonly isRemovable: boolean;
  readonly accepts: Accepted;
};

/** The size of the largest file that a domain accepts; at least that of a picture. */
export const largestFileOf = ({ kinds }: Domain): number =>
  Math.max(
    PICTURE_BYTES_MAX,
    ...Object.values(kinds).flatMap((kind) => uploadFieldsOf(kind).map(({ accepts }) => accepts.bytesMax)),
  );

export const uploadFieldsOf = (kind: Kind): readonly UploadField[] => {
  const edit = editOf(kind);
  const own = (edit?.form ?? []).filter((name) => kind.fields[name]?.kind === 'upload');
  return [
    ...(edit === undefined
      ? []
      : own.map((name) => ({
          ...{ name, list: undefined, command: edit },
          isRemovable: kind.fields[name]?.optional === true,
          accepts: acceptedBy(kind.fields[name] as FieldDef),
        }))),
    ...Object.values(kind.lists).flatMap((list) => {
      const command = Object.values(kind.commands).find(
        (each) => each.list === list && each.kind === 'changeItem' && !each.internal,
      );
      const names = Object.keys(list.fields).filter((name) => list.fields[name]?.kind === 'upload');
      return command === undefined
        ? []
        : names
            .filter((name) => command.itemForm.includes(name))
            .map((name) => ({
              ...{ name, list, command },
              isRemovable: list.fields[name]?.optional === true,
              accepts: acceptedBy(list.fields[name] as FieldDef),
            }));
    }),
  ];
};
