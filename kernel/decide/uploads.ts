import { factsOfFile } from '../base/file-address.ts';
import { Rejection } from '../base/rejection.ts';
import { isUploadOf, isUploadPath } from '../base/upload-name.ts';
import type { Defs, EventInfo, Kind, Row } from '../registry/registry.ts';
import { isFileField, STORED } from './accepted-files.ts';
import { itemsOf } from './items.ts';
import type { Present } from './state.ts';

/**
 * An upload belongs to one field of one aggregate or item: no other may name it, and a lost one never
 * returns. Its file is removed when it is lost.
 */
const uploadsIn = (defs: Defs, names: readonly string[]): readonly string[] =>
  names.filter((name) => defs[name]?.kind === 'upload');

/** The uploads that an aggregate has lost after an event. */
export const lostUploadsOf = (kind: Kind, event: EventInfo): ((before: Present, data: Row) => string) => {
  const { list, effect, sets } = event;
  const names = uploadsIn(kind.fields, [...event.values, ...Object.keys(sets)]);
  const ofItem = list === undefined ? [] : uploadsIn(list.fields, Object.keys(list.fields));
  if (names.length + ofItem.length === 0) return ({ lostUploads }) => lostUploads;
  return ({ fields, lostUploads }, data) => {
    let lost = lostUploads;
    const lose = (had: unknown, has: unknown): void => {
      if (typeof had === 'string' && isUploadPath(had) && has !== undefined && has !== had)
        lost += `${had}\n`;
    };
    for (const name of names) lose(fields[name], name in sets ? sets[name] : data[name]);
    const item =
      list && ofItem.length > 0
        ? itemsOf(fields, list).find(({ id }) => id === data[list.id.name])
        : undefined;
    if (item !== undefined)
      for (const name of ofItem) lose(item[name], effect === 'removes' ? null : data[name]);
    return lost;
  };
};

/** Refuses an event that names an upload of another aggregate or field, or a lost one. */
export const demandOwnUploads = (
  kind: Kind,
  event: EventInfo,
): ((before: Present, data: Row, form: Row) => void) => {
  const { list } = event;
  const names =
    list === undefined
      ? uploadsIn(kind.fields, event.values)
      : uploadsIn(list.fields, Object.keys(list.fields));
  const isHeld = holderIn(kind);
  const defs = list?.fields ?? kind.fields;
  const wanted = (name: string): string =>
    defs[name]?.mayBeElsewhere
      ? `Must be an upload of this ${kind.name} that no other field uses, or the URL of a picture elsewhere.`
      : `Must be an upload of this ${kind.name} that no other field uses.`;
  return (before, data, form) => {
    const { fields, lostUploads } = before;
    for (const name of names) {
      const path = data[name];
      if (isFileField(defs[name])) {
        const isKept = list === undefined && path === fields[name];
        if (typeof path !== 'string' || isKept) continue;
        // Only the upload itself knows that the facts in the address are true.
        if (form[STORED] === name && factsOfFile(path) !== undefined) continue;
        throw new Rejection('invalid_command', {
          errors: [
            { pointer: `/${name}`, detail: 'Must be null or as it is: upload a file to its own path.' },
          ],
        });
      }
      if (typeof path !== 'string' || !isUploadPath(path) || (list === undefined && path === fields[name]))
        continue;
      if (isUploadOf(Number(fields.id), path) && !lostUploads.includes(`${path}\n`) && !isHeld(fields, path))
        continue;
      throw new Rejection('invalid_command', { errors: [{ pointer: `/${name}`, detail: wanted(name) }] });
    }
  };
};

/** Returns a function that finds whether a field of an aggregate or of its items has an upload. */
const holderIn = (kind: Kind): ((fields: Row, path: string) => boolean) => {
  const own = uploadsIn(kind.fields, Object.keys(kind.fields));
  const ofItems = Object.values(kind.lists).map(
    (list) => [list, uploadsIn(list.fields, Object.keys(list.fields))] as const,
  );
  return (fields, path) =>
    own.some((name) => fields[name] === path) ||
    ofItems.some(
      ([list, names]) =>
        names.length > 0 && itemsOf(fields, list).some((item) => names.some((name) => item[name] === path)),
    );
};
