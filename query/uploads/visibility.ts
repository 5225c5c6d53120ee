import type { Request } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { type FileFacts, factsInQuery, factsOfFile, storedPathOf } from '#kernel/base/file-address.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type BlobName, isFileName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, withoutToken } from '#shared/policy.ts';
import { type Note, noteOf } from '#shared/read-log/noted.ts';
import type { FindItem } from '../kinds/find.ts';
import { type ItemRow, resourceIn } from '../kinds/rows.ts';
import { findUpload } from '../lists/item-rows.ts';
import type { KindReads } from '../reads/reads.ts';
import type { ItemSource, Member, Source } from '../rows/source.ts';
import { sourcesOf } from '../rows/sources.ts';
import { secondsLeft } from './signed-address.ts';

/**
 * How long, and by which caches, an answer may be stored; undefined if the caller may not read the picture.
 */
export type Visibility = {
  readonly cacheControl: string;
  /** Of a file that is no picture. */
  readonly facts?: FileFacts | undefined;
};

export type VisibilityOf = (request: Request, name: BlobName) => Promise<Visibility | undefined>;

/** Unpublishing removes a picture from shared caches within this time. */
const PUBLIC_MAX_AGE_S = 300;
export const PUBLIC = { cacheControl: `public, max-age=${PUBLIC_MAX_AGE_S}` };

type Options = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly find: KindReads['find'];
  readonly key: Buffer;
};

/** A kind whose aggregates or items may have pictures. */
type Pictured = {
  readonly find: FindItem;
  readonly source: Source;
  readonly columns: readonly string[];
  readonly items: readonly ItemSource[];
  /**
   * The commands that set pictures, each with all the rights it needs. Callers with one of these may read a
   * picture that no aggregate has yet, or has any more.
   */
  readonly editing: readonly (readonly Operation[])[];
  /** Undefined if its reads are not logged. */
  readonly note: Note | undefined;
  readonly fields: readonly string[];
};

/**
 * A picture is as visible as the aggregate or item that has it. Callers who may set it may also read one that
 * is not used yet, or not any more. A signed address has the rights of the caller who requested it.
 */
export const createVisibility = ({ domain, pool, find, key }: Options): VisibilityOf => {
  const kinds = sourcesOf(domain).all.flatMap((source): readonly Pictured[] => {
    const { kind, members } = source;
    const columns = uploadColumns(members);
    const items = source.items.filter((each) => uploadColumns(each.members).length > 0);
    const editing = uploadFieldsOf(kind).map(({ command, list }) => {
      const part = items.find((each) => each.list === list)?.part;
      return [operationOf(kind, command.name) as Operation, ...(part === undefined ? [] : [part.right])];
    });
    return columns.length + items.length === 0
      ? []
      : [
          {
            ...{ find: find(kind.name), source, columns, items, editing, note: noteOf(kind) },
            fields: [...new Set(uploadFieldsOf(kind).map(({ name, list }) => list?.name ?? name))],
          },
        ];
  });
  const visibleAs = async (
    caller: Caller,
    name: BlobName,
    pictured: Pictured,
  ): Promise<Visibility | undefined> => {
    const { source, columns, editing, note, fields } = pictured;
    const id = pathId(name.split('-', 1)[0] ?? '');
    const byItem =
      id === undefined ? undefined : await rightsByItem(pool, pictured, { of: id, path: pathOfBlob(name) });
    const ownOf = (row: ItemRow): unknown =>
      columns.map((column) => row[column]).find((value) => isAddressOf(value, name));
    const asked = (row: ItemRow): readonly (readonly Operation[])[] => {
      if (ownOf(row) !== undefined) return [[source.right]];
      if (byItem !== undefined) return [[source.right, ...byItem.rights]];
      // The type of a file that nothing names is not known.
      return isFileName(name) ? [] : editing;
    };
    const isAllowed = (as: Caller, row: ItemRow): boolean =>
      asked(row).some((all) => all.every((operation) => may(as, operation, resourceIn(source, row))));
    try {
      const row = await pictured.find(id, (found) => isAllowed(caller, found));
      const isPublic = asked(row) !== editing && isAllowed(withoutToken(caller), row);
      note?.(row.id, fields);
      const facts = factsOfFile(String(ownOf(row) ?? byItem?.address ?? ''));
      return { ...(isPublic ? PUBLIC : { cacheControl: 'private, no-cache' }), facts };
    } catch (error) {
      if (error instanceof Rejection && error.code === notFound(source.kind.name)) return undefined;
      throw error;
    }
  };
  return async (request, name) => {
    const left = secondsLeft(key, name, request.query);
    if (left > 0) await noteSigned(kinds, name);
    if (left > 0)
      return { cacheControl: `private, max-age=${left}`, facts: signedFacts(name, request.query) };
    for (const kind of kinds) {
      const visibility = await visibleAs(callerOf(request), name, kind);
      if (visibility) return visibility;
    }
    return undefined;
  };
};

/** A signed address needs no token, so the log of reads names the item alone. */
const noteSigned = async (kinds: readonly Pictured[], name: BlobName): Promise<void> => {
  const id = pathId(name.split('-', 1)[0] ?? '');
  for (const { find, note, fields, source } of kinds) {
    if (note === undefined || id === undefined) continue;
    const found = await find(id, () => true).catch((error: unknown) => {
      if (error instanceof Rejection && error.code === notFound(source.kind.name)) return undefined;
      throw error;
    });
    if (found !== undefined) note(id, fields);
  }
};

const isAddressOf = (value: unknown, name: BlobName): boolean =>
  typeof value === 'string' && storedPathOf(value) === pathOfBlob(name);

const signedFacts = (name: BlobName, query: Request['query']): FileFacts | undefined =>
  isFileName(name) ? factsInQuery(query) : undefined;

const uploadColumns = (members: readonly Member[]): readonly string[] =>
  members.flatMap(({ def, column }) => (def.kind === 'upload' ? [column] : []));

/**
 * The rights to see the picture of an item, beyond the right to its aggregate, and its address; undefined if no
 * item has it.
 */
const rightsByItem = async (
  pool: Pool,
  { items }: Pictured,
  asked: { readonly of: number; readonly path: string },
): Promise<{ readonly rights: readonly Operation[]; readonly address: string } | undefined> => {
  for (const each of items) {
    const found = await findUpload(pool, each, { ...asked, columns: uploadColumns(each.members) });
    if (found === undefined) continue;
    const isForAll = found.isForAll || each.part === undefined;
    return { rights: isForAll ? [] : [each.part.right], address: found.address };
  }
  return undefined;
};
