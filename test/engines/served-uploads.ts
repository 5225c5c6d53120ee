import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test as base } from 'vitest';
import { newBlobName } from '#shared/blobs/blob-name.ts';
import { openFolderBlobs } from '#shared/blobs/folder/folder-blobs.ts';
import { uploadRoutes } from '../../query/uploads/routes.ts';
import { PUBLIC } from '../../query/uploads/visibility.ts';
import type { ArticleId } from '../publishing-ids.ts';
import { serveRoutes } from '../serve.ts';
import { temporaryDataDir } from './data-dir.ts';

export const ARTICLE = 8001 as ArticleId;
export const ofPublished = { visibilityOf: async () => PUBLIC, key: Buffer.alloc(32) };
/** A picture that is also a script. */
export const CONTENT = Buffer.from('GIF89a/*<script>alert(1)</script>*/=1;');

const openServedUploads = async () => {
  await using opening = new AsyncDisposableStack();
  const folder = join(opening.use(await temporaryDataDir()).path, 'uploads');
  const blobs = opening.use(await openFolderBlobs(folder));
  const { url } = opening.use(await serveRoutes(uploadRoutes({ blobs, ...ofPublished })));
  const gif = newBlobName(ARTICLE, 'image/gif');
  await blobs.put(gif, Readable.from([CONTENT]));
  const get = (name: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${url}/uploads/${name}`, { method, headers });
  const resources = opening.move();
  return { folder, blobs, url, gif, get, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** The uploads of published articles for each file, in a folder with one picture. */
export const test = base
  .extend('openUploads', { scope: 'file' }, () => openServedUploads)
  .extend('uploads', { scope: 'file' }, async ({ openUploads }, { onCleanup }) => {
    const uploads = await openUploads();
    onCleanup(() => uploads[Symbol.asyncDispose]());
    return uploads;
  })
  .extend('folder', { scope: 'file' }, ({ uploads }) => uploads.folder)
  .extend('blobs', { scope: 'file' }, ({ uploads }) => uploads.blobs)
  .extend('url', { scope: 'file' }, ({ uploads }) => uploads.url)
  .extend('gif', { scope: 'file' }, ({ uploads }) => uploads.gif)
  .extend('get', { scope: 'file' }, ({ uploads }) => uploads.get);
