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
