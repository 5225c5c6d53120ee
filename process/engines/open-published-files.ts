import { StartRefused } from '#kernel/base/start-refused.ts';
import { parseBlobUrl } from '#shared/blobs/blob-url.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { loadEngine } from '#shared/load-engine.ts';

type Options = {
  /** A folder that no other user of the machine reads. */
  readonly isPrivate?: boolean | undefined;
  /** The largest file that is read from a bucket. */
  readonly bytesMax?: number | undefined;
};

/** Opens the folder or bucket of a setting. Loads only the adapter in use. */
export const openPublishedFiles = async (
  url: string,
  setting: string,
  { isPrivate, bytesMax }: Options = {},
): Promise<PublishedFiles> => {
  const address = parseBlobUrl(url);
  if (address === undefined) throw new StartRefused(`${setting} must be a file: or an s3: URL.`);
  if (address.kind === 'folder') {
    const { openPublishedFolder } = await import('#shared/blobs/folder/published-folder.ts');
    return openPublishedFolder(address.folder, { isPrivate });
  }
  const { openPublishedBucket } = await loadEngine(
    'An S3 bucket',
    () => import('#adapters/s3/published-bucket.ts'),
  );
  return openPublishedBucket(address, { bytesMax });
};
