import { fileURLToPath } from 'node:url';

export type BlobAddress = { readonly kind: 'folder'; readonly folder: string } | S3Address;

export type S3Address = {
  readonly kind: 's3';
  readonly bucket: string;
  /** The prefix of every key: empty, or a path that ends with a slash. */
  readonly prefix: string;
  /** Undefined means that of AWS. */
  readonly endpoint: string | undefined;
  /** Undefined means that of the usual AWS environment. */
  readonly region: string | undefined;
  /** Undefined means those of the usual AWS environment. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
};

/**
 * `file:///folder`, or `s3://bucket/prefix?endpoint=…&region=…`, with `key:secret@` before the bucket if the
 * environment has none.
 */
export const parseBlobUrl = (text: string): BlobAddress | undefined => {
  if (!URL.canParse(text) || !isDecodable(text)) return undefined;
  const url = new URL(text);
  if (url.protocol === 's3:') return s3Address(url);
  // `file:uploads` would be a folder at the root of the disk, which nobody means.
  if (!/^file:\/\/\/./.test(text) || url.search !== '' || url.hash !== '' || /%2f/i.test(url.pathname))
    return undefined;
  return { kind: 'folder', folder: fileURLToPath(url) };
};

const isDecodable = (text: string): boolean => {
  try {
    return !decodeURIComponent(text).includes('\0');
  } catch {
    return false;
  }
};

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[\w.-]+\/)*$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const PARAMETERS = new Set(['endpoint', 'region']);

const s3Address = ({
  hostname,
  port,
  pathname,
  searchParams,
  hash,
  username,
  password,
}: URL): S3Address | undefined => {
  const prefix = pathname.replace(/^\//, '').replace(/(?<=[^/])$/, '/');
  const [endpoint, region] = [
    searchParams.get('endpoint') ?? undefined,
    searchParams.get('region') ?? undefined,
  ];
  if (!BUCKET.test(hostname) || !PREFIX.test(prefix) || port !== '' || hash !== '') return undefined;
  if (![...searchParams.keys()].every((name) => PARAMETERS.has(name))) return undefined;
  if (endpoint !== undefined && !isHttp(endpoint)) return undefined;
  if (region !== undefined && !REGION.test(region)) return undefined;
  if ((username === '') !== (password === '')) return undefined;
  const credentials =
    username === ''
      ? undefined
      : { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) };
  return { kind: 's3', bucket: hostname, prefix, endpoint, region, credentials };
};

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
