import { isMediaType } from '../base/file-address.ts';
import { editOf } from '../decide/forms.ts';
import { uploadFieldsOf } from '../decide/upload-fields.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Defs, Kind, ListInfo } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses fields for files that no client could ever fill, each with what to write instead. */
export const demandFiles = eachKind(wrongFiles);

function* wrongFiles(kind: Kind): Sentences {
  yield* wrongIn(kind.fields);
  for (const { fields } of Object.values(kind.lists)) yield* wrongIn(fields);
  for (const [name, def] of filesIn(kind.fields))
    if (!isFilled(kind, { name, def, list: undefined }))
      yield `nothing can give ${name} its file: name it in \`changes\` of an event that ${editsOf(kind)} emits.`;
  for (const list of Object.values(kind.lists))
    for (const [name, def] of filesIn(list.fields))
      if (!isFilled(kind, { name, def, list }))
        yield `nothing can give ${list.name}.${name} its file: add an event with \`updates: '${list.name}'\` and a command that emits it.`;
}

const filesIn = (defs: Defs): readonly (readonly [string, FieldDef])[] =>
  Object.entries(defs).filter(([, { kind }]) => kind === 'upload');

const FILE_BYTES_MAX = 104_857_600;
const TYPES_MAX = 50;

function* wrongIn(defs: Defs): Sentences {
  for (const [name, { file }] of filesIn(defs)) {
    // GraphQL has fields beside that of a file.
    for (const taken of [`${name}Address`, ...(file === undefined ? [] : [`${name}Details`])])
      if (taken in defs)
        yield `the field ${taken} has the name that GraphQL gives to what belongs to ${name}: rename it.`;
    if (file === undefined) continue;
    const { types, bytesMax } = file as { readonly types: unknown; readonly bytesMax: unknown };
    if (!Array.isArray(types) || types.length === 0 || types.length > TYPES_MAX)
      return yield `the file ${name} needs 1 to ${TYPES_MAX} media types: write \`types: ['application/pdf']\`.`;
    for (const type of types)
      if (typeof type !== 'string' || !isMediaType(type))
        yield `the file ${name} accepts ${String(type)}, which is no media type in small letters: write one as \`application/pdf\`.`;
    const bytes = Number.isInteger(bytesMax) ? (bytesMax as number) : 0;
    if (bytes < 1 || bytes > FILE_BYTES_MAX)
      yield `the file ${name} has at most ${String(bytesMax)} bytes: use a number from 1 to ${FILE_BYTES_MAX}.`;
  }
}

type Asked = {
  readonly name: string;
  readonly def: FieldDef;
  readonly list: ListInfo | undefined;
};

/** By an upload, or a picture elsewhere by any form or decision. */
const isFilled = (kind: Kind, { name, def, list }: Asked): boolean =>
  uploadFieldsOf(kind).some((upload) => upload.name === name && upload.list === list) ||
  (def.mayBeElsewhere === true &&
    (list === undefined
      ? Object.values(kind.events).some((event) => event.values.includes(name))
      : Object.values(kind.commands).some(
          (command) => command.list === list && command.itemForm.includes(name),
        )));

const editsOf = (kind: Kind): string => {
  const edit = editOf(kind);
  return edit === undefined ? 'a command' : `the command ${edit.name}`;
};
