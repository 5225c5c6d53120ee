import * as z from 'zod';
import { type BlobName, blobOfCover } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { ArticleId, Version } from '#shared/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { articleStream } from '../articles/article.ts';

/** The event by which an article lost the cover that it had. */
export type LostCover = { readonly articleId: ArticleId; readonly version: Version; readonly cover: string | null };

type Dependencies = { readonly eventLog: Pick<EventLog, 'read'>; readonly blobs: Pick<Blobs, 'remove'> };

/** Removes the picture that the article had until then, and that nothing names any more. Doing it again removes the same. */
export const removeLostCover = async ({ eventLog, blobs }: Dependencies, lost: LostCover): Promise<void> => {
  const blob = await blobBefore(eventLog, lost);
  if (blob !== undefined && blob !== blobIn(lost)) await blobs.remove(blob);
};

const blobBefore = async (eventLog: Dependencies['eventLog'], { articleId, version }: LostCover): Promise<BlobName | undefined> => {
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

const WithCover = z.object({ cover: z.string().nullable() });

/** What an event says that the cover is, in clear as ids are; most say nothing of it. */
export const coverIn = ({ data }: Pick<RecordedEvent, 'data'>): string | null | undefined => WithCover.safeParse(data).data?.cover;
