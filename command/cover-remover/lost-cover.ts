import * as z from 'zod';
import { type BlobName, blobOfCover } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { ArticleId, Version } from '#shared/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { articleStream } from '../articles/article.ts';

/** The event by which an article may have lost the cover that it had. */
export type LostCover = { readonly articleId: ArticleId; readonly version: Version; readonly cover: string | null };

export type LostCoverDependencies = { readonly eventLog: Pick<EventLog, 'read'>; readonly blobs: Pick<Blobs, 'remove'> };

/** Removes the picture that the article had until then, and that nothing names any more. Doing it again removes the same. */
export const removeLostCover = async ({ eventLog, blobs }: LostCoverDependencies, lost: LostCover): Promise<void> => {
  const blob = await blobBefore(eventLog, lost);
  if (blob !== undefined && blob !== blobIn(lost)) await blobs.remove(blob);
};

// Only what stands in clear is needed: nothing has to be unsealed.
const WithArticle = z.object({ articleId: z.int().positive() });
const WithCover = z.object({ cover: z.string().nullable() });

/** Nothing where the event leaves the cover as it is. Throws where the event is damaged. */
export const lostCoverOf = (event: RecordedEvent): LostCover | undefined => {
  const cover = coverAfter(event);
  if (cover === undefined) return undefined;
  return { articleId: WithArticle.parse(event.data).articleId as ArticleId, version: event.version, cover };
};

const coverAfter = (event: RecordedEvent): string | null | undefined => {
  switch (event.type) {
    case 'article.edited':
      return coverIn(event);
    case 'article.deleted':
      return null;
    default:
      return undefined;
  }
};

const blobBefore = async (
  eventLog: LostCoverDependencies['eventLog'],
  { articleId, version }: LostCover,
): Promise<BlobName | undefined> => {
  let blob: BlobName | undefined;
  for await (const events of eventLog.read(articleStream(articleId))) {
    for (const event of events) {
      if (event.version >= version) return blob;
      const cover = coverIn(event);
      if (cover !== undefined) blob = blobIn({ articleId, cover });
    }
  }
  return blob;
};

const blobIn = ({ articleId, cover }: Pick<LostCover, 'articleId' | 'cover'>): BlobName | undefined =>
  cover === null ? undefined : blobOfCover(articleId, cover);

/** What an event says that the cover is; most say nothing of it. */
const coverIn = ({ data }: Pick<RecordedEvent, 'data'>): string | null | undefined => WithCover.safeParse(data).data?.cover;
