import { isMediaType } from '../base/file-address.ts';
import { StartRefused } from '../base/start-refused.ts';
import { editOf } from '../decide/forms.ts';
import { type UploadField, uploadFieldsOf } from '../decide/upload-fields.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Defs, Domain, Kind, ListInfo } from '../registry/registry.ts';

/** Refuses fields for files that no client could ever fill, each with what to write instead. */
export const demandFiles = (domain: Domain): void => {
  const [wrong] = Object.values(domain.kinds).flatMap(wrongFilesIn);
  if (wrong !== undefined) throw new StartRefused(wrong);
};

const wrongFilesIn = (kind: Kind): readonly string[] => {
  const uploads = uploadFieldsOf(kind);
  return [
    ...[kind.fields, ...Object.values(kind.lists).map(({ fields }) => fields)].flatMap((defs) =>
      [...filesIn(defs).flatMap(wrongLimits), ...takenIn(defs)].map((wrong) => `${kind.name}: ${wrong}`),
    ),
    ...filesIn(kind.fields).flatMap(([name, def]) =>
      isFilled(kind, uploads, { name, def, list: undefined })
        ? []
        : [
            `${kind.name}: nothing can give ${name} its file: name it in \`changes\` of an event that ${editsOf(kind)} emits.`,
          ],
    ),
    ...Object.values(kind.lists).flatMap((list) =>
      filesIn(list.fields).flatMap(([name, def]) =>
        isFilled(kind, uploads, { name, def, list })
          ? []
          : [
              `${kind.name}: nothing can give ${list.name}.${name} its file: add an event with \`updates: '${list.name}'\` and a command that emits it.`,
            ],
      ),
    ),
  ];
};

const filesIn = (defs: Defs): readonly (readonly [string, FieldDef])[] =>
  Object.entries(defs).filter(([, { kind }]) => kind === 'upload');

const FILE_BYTES_MAX = 104_857_600;
const TYPES_MAX = 50;

const wrongLimits = ([name, { file }]: readonly [string, FieldDef]): readonly string[] => {
  if (file === undefined) return [];
  const { types, bytesMax } = file as { readonly types: unknown; readonly bytesMax: unknown };
  if (!Array.isArray(types) || types.length === 0 || types.length > TYPES_MAX)
    return [`the file ${name} needs 1 to ${TYPES_MAX} media types: write \`types: ['application/pdf']\`.`];
  const [wrong] = types.filter((type) => typeof type !== 'string' || !isMediaType(type));
  if (wrong !== undefined)
    return [
      `the file ${name} accepts ${String(wrong)}, which is no media type in small letters: write one as \`application/pdf\`.`,
    ];
  const isSize =
    Number.isInteger(bytesMax) && (bytesMax as number) >= 1 && (bytesMax as number) <= FILE_BYTES_MAX;
  return isSize
    ? []
    : [`the file ${name} has at most ${String(bytesMax)} bytes: use a number from 1 to ${FILE_BYTES_MAX}.`];
};

/** GraphQL has fields beside that of a file. */
const takenIn = (defs: Defs): readonly string[] =>
  filesIn(defs).flatMap(([name, { file }]) =>
    [`${name}Address`, ...(file === undefined ? [] : [`${name}Details`])].flatMap((taken) =>
      taken in defs
        ? [`the field ${taken} has the name that GraphQL gives to what belongs to ${name}: rename it.`]
        : [],
    ),
  );

type Asked = {
  readonly name: string;
  readonly def: FieldDef;
  readonly list: ListInfo | undefined;
};

/** By an upload, or a picture elsewhere by any form or decision. */
const isFilled = (kind: Kind, uploads: readonly UploadField[], { name, def, list }: Asked): boolean =>
  uploads.some((upload) => upload.name === name && upload.list === list) ||
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
