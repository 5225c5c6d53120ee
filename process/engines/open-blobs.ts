import type { Scan } from '#kernel/base/scan.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type BlobAddress, parseBlobUrl } from '#shared/blobs/blob-url.ts';
import type { Blobs, UploadStorage } from '#shared/blobs/blobs.ts';
import type { HealthChecks } from '#shared/health-checks.ts';
import { loadEngine } from '#shared/load-engine.ts';

/** Opens the blob storage of BLOB_URL, and adds it to the health checks. Loads only the adapter in use. */
export const openBlobs = async ({
  url,
  health,
  scan,
}: {
  readonly url: string;
  readonly health: HealthChecks;
  /** Checks each new file. */
  readonly scan?: Scan | undefined;
}): Promise<UploadStorage> => {
  const address = parseBlobUrl(url);
  if (address === undefined) throw new StartRefused('BLOB_URL must be a file: or an s3: URL.');
  const blobs = await openAndCheck(address).catch((cause: unknown) => {
    if (cause instanceof StartRefused) throw cause;
    throw new StartRefused(
      `${describe(address)} cannot be used for uploads: ${reasonOf(cause)}. Correct BLOB_URL, or the storage that it names.`,
      {
        cause,
      },
    );
  });
  health.add('uploads', (signal) => blobs.check(signal));
  return scan === undefined ? blobs : { ...blobs, scan };
};

const openAndCheck = async (address: BlobAddress): Promise<Blobs> => {
  await using opening = new AsyncDisposableStack();
  const blobs = opening.use(await openAt(address));
  await blobs.check();
  opening.move();
  return blobs;
};

const openAt = async (address: BlobAddress): Promise<Blobs> => {
  switch (address.kind) {
    case 'folder': {
      const { openFolderBlobs } = await import('#shared/blobs/folder/folder-blobs.ts');
      return openFolderBlobs(address.folder);
    }
    case 's3': {
      const { openS3Blobs } = await loadEngine('An S3 bucket', () => import('#adapters/s3/s3-blobs.ts'));
      return openS3Blobs(address);
    }
  }
};

/** Without the credentials. */
const describe = (address: BlobAddress): string =>
  address.kind === 'folder'
    ? `The folder ${address.folder}`
    : `The bucket ${address.bucket} at ${address.endpoint ?? 'AWS'}`;

/** The response of a bucket to HEAD has a status and no text. */
const reasonOf = (cause: unknown): string => {
  const { name, message, code, $metadata } = cause as Error & {
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  if (status === 404) return 'there is no such bucket';
  if (status === 403) return 'the credentials are wrong, or may not list the bucket';
  if (status !== undefined) return `it answers ${status} (${name})`;
  return [code, message].filter(Boolean).join(': ');
};
