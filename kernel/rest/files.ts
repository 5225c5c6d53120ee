import * as z from 'zod';
import { IMAGE_TYPES } from '#shared/blobs/image-type.ts';
import { written } from '#shared/rest/fields.ts';
import { editOf } from '../decide/forms.ts';
import { capital, kebab, oneOf, spaced } from '../registry/names.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { type AggregateOperation, itemPath, type Named } from './operation.ts';
import { commanded } from './writes.ts';

const uploadsOf = (kind: Kind): readonly string[] => (editOf(kind)?.form ?? []).filter((field) => kind.fields[field]?.kind === 'upload');

/** Pictures are sent apart. Only the first of a name has an id without the name of what it belongs to. */
export const filesOf = (domain: Domain, kind: Kind, kinds: readonly Kind[]): readonly Named[] => {
  const edit = editOf(kind);
  if (edit === undefined) return [];
  return uploadsOf(kind).flatMap((field): readonly Named[] => {
    const [words, one] = [spaced(field), spaced(kind.name)];
    const isFirst = kinds.find((each) => uploadsOf(each).includes(field)) === kind;
    const name = `${isFirst ? '' : capital(kind.name)}${capital(field)}`;
    const shared = { ...commanded(domain, kind, edit), path: `${itemPath(kind)}/${kebab(field)}`, refusals: [] };
    const put: AggregateOperation = {
      ...shared,
      method: 'PUT',
      summary: `Give ${oneOf(kind.name)} ${oneOf(field)}`,
      body: Object.fromEntries(IMAGE_TYPES.map((type) => [type, z.file()])),
      answer: written(`The ${one} has the ${words}.`),
      use: { kind, does: 'putFile', command: edit, field },
    };
    const remove: AggregateOperation = {
      ...shared,
      method: 'DELETE',
      summary: `Take the ${words} from ${oneOf(kind.name)}`,
      answer: { status: 204, description: `The ${one} has no ${words}.`, kind: 'nothing' },
      use: { kind, does: 'removeFile', command: edit, field },
    };
    return [
      [`put${name}`, put],
      [`delete${name}`, remove],
    ];
  });
};
