import type { UserId } from '#kernel/base/brands.ts';
import { wire } from '#kernel/base/names.ts';
import { leadsToUser } from '#kernel/base/users.ts';
import type { Defs, Domain, Effect, ListInfo, Row } from '#kernel/registry/registry.ts';
import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';

/**
 * Files of aggregates that name a person, by their paths; each file belongs to one aggregate alone, so that
 * an erasure deletes nobody else’s.
 */
export type UploadsOf = {
  take(event: RecordedEvent): void;
  /** All files that were ever named, and whether a present aggregate still names each. */
  files(): ReadonlyMap<string, { readonly id: number; readonly isNamed: boolean }>;
};

type Uploading = {
  readonly id: string;
  readonly persons: readonly string[];
  /** For items: the list, and the event’s field for the item’s key. */
  readonly list: ListInfo | undefined;
  readonly fields: readonly string[];
  readonly effect: Effect;
  readonly sets: Row;
};

export const uploadsOf = (domain: Domain, userId: UserId): UploadsOf => {
  const types = uploadingTypes(domain);
  const files = new Map<string, { id: number; isNamed: boolean }>();
  const byStream = new Map<string, Map<string, string>>();
  const lose = (now: Map<string, string>, isLost: (key: string) => boolean): void => {
    for (const [key, path] of now) {
      const file = files.get(path);
      if (!isLost(key) || file === undefined) continue;
      file.isNamed = false;
      now.delete(key);
    }
  };
  return {
    files: () => files,
    take({ type, stream, data }) {
      const uploading = types.get(type);
      if (uploading === undefined || !uploading.persons.some((name) => data[name] === userId)) return;
      const { list, fields, effect, sets } = uploading;
      const now = byStream.get(stream) ?? new Map<string, string>();
      byStream.set(stream, now);
      const prefix = list === undefined ? '' : `${list.name} ${String(data[list.id.name])} `;
      if (effect === 'ends') lose(now, () => true);
      if (effect === 'removes') lose(now, (key) => key.startsWith(prefix));
      for (const field of fields) {
        const path = field in sets ? sets[field] : data[field];
        if (path === undefined) continue;
        lose(now, (key) => key === prefix + field);
        const id = Number(data[uploading.id]);
        if (typeof path !== 'string' || blobOfUpload(id, path) === undefined) continue;
        files.set(path, { id, isNamed: true });
        now.set(prefix + field, path);
      }
    },
  };
};

const uploadsIn = (defs: Defs): readonly string[] =>
  Object.keys(defs).filter((name) => defs[name]?.kind === 'upload');

const uploadingTypes = (domain: Domain): ReadonlyMap<string, Uploading> =>
  new Map(
    Object.values(domain.kinds).flatMap((kind) => {
      const persons = kind.identity.flatMap((name) => {
        const def = kind.fields[name];
        return def !== undefined && leadsToUser(def) ? [wire(name, def)] : [];
      });
      const all = [kind.fields, ...Object.values(kind.lists).map(({ fields }) => fields)].flatMap(uploadsIn);
      if (all.length === 0) return [];
      return Object.values(kind.events).map(({ type, effect, list, sets }): readonly [string, Uploading] => [
        type,
        { id: `${kind.name}Id`, persons, list, fields: uploadsIn(list?.fields ?? kind.fields), effect, sets },
      ]);
    }),
  );

export const uploadPlace = async (
  uploads: UploadsOf,
  blobs: Pick<Blobs, 'find'> | undefined,
): Promise<ErasureReport['places'][number]> => {
  const files = [...uploads.files()];
  const place = 'uploads';
  if (blobs === undefined)
    return {
      place,
      verdict: 'unknown',
      rows: files.length,
      left: 0,
      says: 'not searched here: see the report of the command line or of REST',
    };
  let [left, staying] = [0, 0];
  for (const [path, { id, isNamed }] of files) {
    const blob = blobOfUpload(id, path);
    if (blob === undefined || (await blobs.find(blob)) === undefined) continue;
    if (isNamed) staying += 1;
    else left += 1;
  }
  return {
    place,
    verdict: left === 0 ? 'erased' : 'left',
    rows: files.length,
    left,
    says: `files on disk or in S3, each of one item; ${staying} of them stay, with the items that stay`,
  };
};
