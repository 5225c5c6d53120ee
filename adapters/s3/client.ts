import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { S3Address } from '#shared/blobs/blob-url.ts';

const CONNECT_MS = 3_000;
/** Of silence in the middle of a request. */
const SILENCE_MAX_MS = 10_000;
const ATTEMPTS_MAX = 2;
/** For short requests, including a retry. */
const ANSWER_MAX_MS = 8_000;

export const clientOf = ({ endpoint, region, credentials }: S3Address): S3Client =>
  new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: region ?? 'us-east-1' }),
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    maxAttempts: ATTEMPTS_MAX,
    // Many compatible servers do not know later kinds of checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The client would write to the console; its errors say the same.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MAX_MS },
  });

/** A command alone is done when the response begins: the time of the body is then its reader’s affair. */
export const inTime = async <Answer>(
  send: (options: { abortSignal: AbortSignal }) => Promise<Answer>,
): Promise<Answer> => {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), ANSWER_MAX_MS);
  try {
    return await send({ abortSignal: waiting.signal });
  } finally {
    clearTimeout(timer);
  }
};

/** A response to HEAD has no body that could show whether the object or the bucket is absent. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  error.$metadata.httpStatusCode === 404 &&
  error.name !== 'NoSuchBucket';
