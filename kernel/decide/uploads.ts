import { isUploadOf, isUploadPath } from '#shared/blobs/upload-name.ts';
import { Rejection } from '#shared/rejection.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';
import type { Present } from './state.ts';

/**
 * An upload belongs to its item, so that no other may name it, and never comes back once lost. Its file is removed then.
 * Uploads are the fields of which everybody who knows the address sees the file.
 */
const uploadsIn = (kind: Kind, names: readonly string[]): readonly string[] => names.filter((name) => kind.fields[name]?.publicFile);

/** The uploads that the item has lost, once an event has happened to it. */
export const lostUploadsOf = (kind: Kind, event: EventInfo): ((before: Present, data: Row) => string) => {
  const names = uploadsIn(kind, [...event.values, ...Object.keys(event.sets)]);
  return ({ fields, lostUploads }, data) => {
    let lost = lostUploads;
    for (const name of names) {
      const had = fields[name];
      const has = name in event.sets ? event.sets[name] : data[name];
      if (typeof had === 'string' && isUploadPath(had) && has !== undefined && has !== had) lost += `${had}\n`;
    }
    return lost;
  };
};

/** Refuses an event that names an upload of something else, or a lost one. */
export const demandOwnUploads = (kind: Kind, event: EventInfo): ((id: number, data: Row, lostUploads: string) => void) => {
  const names = uploadsIn(kind, event.values);
  return (id, data, lostUploads) => {
    for (const name of names) {
      const path = data[name];
      if (typeof path !== 'string' || !isUploadPath(path)) continue;
      if (isUploadOf(id, path) && !lostUploads.includes(`${path}\n`)) continue;
      const detail = `Must be an upload that this ${kind.name} has, or a picture elsewhere.`;
      throw new Rejection('invalid_command', { errors: [{ pointer: `/${name}`, detail }] });
    }
  };
};
