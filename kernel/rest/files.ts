import * as z from 'zod';
import { capital, kebab, oneOf, spaced } from '../base/names.ts';
import { written } from '../base/rest/fields.ts';
import { oneOfList } from '../decide/items.ts';
import { type UploadField, uploadFieldsOf } from '../decide/upload-fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { onePath, parametersOf } from './lists.ts';
import { type AggregateOperation, itemPath, type Named, nameOfItems } from './operation.ts';
import { commanded } from './writes.ts';

/** Files are sent in requests of their own, to an aggregate or to an item of a list. */
export const filesOf = (domain: Domain, kind: Kind, kinds: readonly Kind[]): readonly Named[] =>
  uploadFieldsOf(kind).flatMap((upload): readonly Named[] => {
    const { name: field, list, command, isRemovable } = upload;
    const [words, one] = [spaced(field), spaced(list === undefined ? kind.name : oneOfList(kind, list))];
    const whose = list === undefined ? oneOf(kind.name) : `${oneOf(list.one)} of ${oneOf(kind.name)}`;
    const name = `${ownerInName(upload, kind, kinds)}${capital(field)}`;
    const of =
      list === undefined
        ? { path: itemPath(kind) }
        : { path: onePath(kind, list), parameters: parametersOf(domain, kind, list) };
    const all = commanded(domain, kind, command);
    const shared = {
      ...all,
      ...of,
      path: `${of.path}/${kebab(field)}`,
      // Files are not sealed, so an erased person is no obstacle.
      refusals: all.refusals.filter((code) => code !== 'user_deleted'),
    };
    const put: AggregateOperation = {
      ...shared,
      method: 'PUT',
      summary: `Upload the ${words} of ${whose}`,
      ...(!upload.accepts.isPicture && {
        bodySays: `At most ${upload.accepts.bytesMax.toLocaleString('en')} bytes.`,
        takesFileName: true,
      }),
      body: Object.fromEntries(upload.accepts.types.map((type) => [type, z.file()])),
      answer: written(`The ${one} has the ${words}.`),
      use: { kind, does: 'putFile', upload },
    };
    const remove: AggregateOperation = {
      ...shared,
      method: 'DELETE',
      summary: `Remove the ${words} of ${whose}`,
      answer: { status: 204, description: `The ${one} has no ${words}.`, kind: 'nothing' },
      use: { kind, does: 'removeFile', upload },
    };
    return [[`put${name}`, put], ...(isRemovable ? [[`delete${name}`, remove] as const] : [])];
  });

/** The first field of a name has an operation id without the name of its aggregate; others contain it. */
const ownerInName = ({ name, list }: UploadField, kind: Kind, kinds: readonly Kind[]): string => {
  if (list !== undefined) return nameOfItems(kind, list);
  const first = kinds.find((each) =>
    uploadFieldsOf(each).some((upload) => upload.list === undefined && upload.name === name),
  );
  return first === kind ? '' : capital(kind.name);
};
