import type { Request } from 'express';
import { operationOf } from '#kernel/conditions/rights.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type BlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import type { Pool } from '#shared/database/pool.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { type Caller, may, type Operation, withoutToken } from '#shared/policy.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { findUpload } from '../item-rows.ts';
import type { FindItem } from '../kinds/find.ts';
import type { KindReads } from '../kinds/reads.ts';
import { type ItemRow, resourceIn } from '../kinds/rows.ts';
import { type ItemSource, type Member, type Source, sourcesOf } from '../sources.ts';
import { secondsLeft } from './signed-address.ts';

/**
 * For how long, and in which caches, an answer may be kept; nothing if the caller may not read the picture.
 */
export type Visibility = { readonly cacheControl: string };

export type VisibilityOf = (request: Request, name: BlobName) => Promise<Visibility | undefined>;

/** Unpublishing takes a picture out of shared caches within this. */
const PUBLIC_MAX_AGE_S = 300;
export const PUBLIC: Visibility = { cacheControl: `public, max-age=${PUBLIC_MAX_AGE_S}` };

type Options = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly find: KindReads['find'];
  readonly key: Buffer;
};

/** The aggregates of one kind that may have pictures of their own, or by their items. */
type Pictured = {
  readonly find: FindItem;
  readonly source: Source;
  readonly columns: readonly string[];
  readonly items: readonly ItemSource[];
  /** Any of these leads to a picture that nothing has yet, or has no more; each takes all of its rights. */
  readonly editing: readonly (readonly Operation[])[];
};

/**
 * A picture is as visible as what has it, an aggregate or an item of a list. Whoever may give it one may also
 * read a picture that it does not have yet, or has no more; a signed address stands for the right of whoever
 * asked for it.
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
      : [{ find: find(kind.name), source, columns, items, editing }];
  });
  const visibleAs = async (
    caller: Caller,
    name: BlobName,
    pictured: Pictured,
  ): Promise<Visibility | undefined> => {
    const { source, columns, editing } = pictured;
    const id = pathId(name.split('-', 1)[0] ?? '');
    const byItem =
      id === undefined ? undefined : await rightsByItem(pool, pictured, { of: id, path: pathOfBlob(name) });
    const asked = (row: ItemRow): readonly (readonly Operation[])[] => {
      if (columns.some((column) => row[column] === pathOfBlob(name))) return [[source.right]];
      return byItem === undefined ? editing : [[source.right, ...byItem]];
    };
    const isAllowed = (as: Caller, row: ItemRow): boolean =>
      asked(row).some((all) => all.every((operation) => may(as, operation, resourceIn(source, row))));
    try {
      const row = await pictured.find(id, (found) => isAllowed(caller, found));
      const isPublic = asked(row) !== editing && isAllowed(withoutToken(caller), row);
      return isPublic ? PUBLIC : { cacheControl: 'private, no-cache' };
    } catch (error) {
      if (error instanceof Rejection && error.code === notFound(source.kind.name)) return undefined;
      throw error;
    }
  };
  return async (request, name) => {
    const left = secondsLeft(key, name, request.query);
    if (left > 0) return { cacheControl: `private, max-age=${left}` };
    for (const kind of kinds) {
      const visibility = await visibleAs(callerOf(request), name, kind);
      if (visibility) return visibility;
    }
    return undefined;
  };
};

const uploadColumns = (members: readonly Member[]): readonly string[] =>
  members.flatMap(({ def, column }) => (def.kind === 'upload' ? [column] : []));

/**
 * What it takes beside the right to the aggregate to see a picture of one of its items; nothing if no item
 * has it.
 */
const rightsByItem = async (
  pool: Pool,
  { items }: Pictured,
  asked: { readonly of: number; readonly path: string },
): Promise<readonly Operation[] | undefined> => {
  for (const each of items) {
    const found = await findUpload(pool, each, { ...asked, columns: uploadColumns(each.members) });
    if (found !== undefined) return found.isForAll || each.part === undefined ? [] : [each.part.right];
  }
  return undefined;
};
