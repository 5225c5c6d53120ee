import type { Request } from 'express';
import { operationOf } from '#kernel/conditions/rights.ts';
import { editOf } from '#kernel/decide/forms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type BlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { type Caller, may, type Operation, withoutToken } from '#shared/policy.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { FindItem } from '../kinds/find.ts';
import type { KindReads } from '../kinds/reads.ts';
import { type ItemRow, resourceIn } from '../kinds/rows.ts';
import { type Source, sourcesOf } from '../sources.ts';
import { secondsLeft } from './signed-address.ts';

/** For how long, and in which caches, an answer may be kept; nothing if the caller may not read the picture. */
export type Visibility = { readonly cacheControl: string };

export type VisibilityOf = (request: Request, name: BlobName) => Promise<Visibility | undefined>;

/** Unpublishing takes a picture out of shared caches within this. */
const PUBLIC_MAX_AGE_S = 300;
export const PUBLIC: Visibility = { cacheControl: `public, max-age=${PUBLIC_MAX_AGE_S}` };

type Options = { readonly domain: Domain; readonly find: KindReads['find']; readonly key: Buffer };

/** The items of one kind whose pictures everybody can see who may read them. */
type Pictured = { readonly find: FindItem; readonly source: Source; readonly columns: readonly string[]; readonly editing: Operation };

/**
 * A picture is as visible as the item whose it is. Whoever may change the item may also read a picture that it does not have yet, or has
 * no more; a signed address stands for the right of whoever asked for it.
 */
export const createVisibility = ({ domain, find, key }: Options): VisibilityOf => {
  const kinds = sourcesOf(domain).all.flatMap((source): readonly Pictured[] => {
    const { kind, members } = source;
    const columns = members.flatMap(({ def, column }) => (def.publicFile ? [column] : []));
    const edit = editOf(kind);
    return columns.length === 0 || !edit ? [] : [{ find: find(kind.name), source, columns, editing: operationOf(kind, edit.name) }];
  });
  const visibleAs = async (caller: Caller, name: BlobName, pictured: Pictured): Promise<Visibility | undefined> => {
    const { source, columns, editing } = pictured;
    const [id = ''] = name.split('-', 1);
    const isShown = (row: ItemRow) => columns.some((column) => row[column] === pathOfBlob(name));
    const isSeen = (row: ItemRow) => may(caller, isShown(row) ? source.right : editing, resourceIn(source, row));
    try {
      const row = await pictured.find(pathId(id), isSeen);
      const isPublic = isShown(row) && may(withoutToken(caller), source.right, resourceIn(source, row));
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
