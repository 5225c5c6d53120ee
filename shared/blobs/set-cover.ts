import type { ArticleId } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import { newBlobName, pathOfBlob } from './blob-name.ts';
import type { Blobs } from './blobs.ts';
import type { Picture } from './picture.ts';

type Cover<Result> = {
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  readonly articleId: ArticleId;
  /** Changes nothing, and is refused as the change itself would be. */
  check(): Promise<unknown>;
  /** Begins to take in the picture. */
  receive(): Promise<Picture>;
  /** Where its length was said, it must have it. */
  readonly bytes?: number | undefined;
  /** Makes the path the cover of the article. */
  change(path: string): Promise<Result>;
};

/** Keeps a picture and makes it a cover; who may not is refused before a byte is stored, and what was refused is not kept. */
export const setCover = async <Result>(cover: Cover<Result>): Promise<Result> => {
  const { blobs, check, change } = cover;
  await check();
  const name = await store(cover);
  return change(pathOfBlob(name)).catch(async (error: unknown) => {
    // Only a refusal says for certain that no article names it. What cannot be removed is in nobody's way.
    if (error instanceof Rejection) await blobs.remove(name).catch(() => {});
    throw error;
  });
};

const store = async ({ blobs, articleId, receive, bytes }: Omit<Cover<unknown>, 'check' | 'change'>) => {
  await using picture = await receive();
  const name = newBlobName(articleId, picture.type);
  await blobs.put(name, picture.chunks, { bytes });
  return name;
};
