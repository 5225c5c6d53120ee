import type { StreamName } from '#shared/brands.ts';

/** The kinds of streams; each belongs to one aggregate. */
export const STREAM_KINDS = [
  'user',
  'article',
  'comment',
  'webhook',
  'email',
  'administrators',
  'command',
  'session',
  'grant',
  'client',
  'account',
  'invitation',
] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** The stream of one aggregate. The name is storage: it must not change. */
export const streamName = (kind: string, key: number | string): StreamName => `${kind}-${key}` as StreamName;

/** The kind of a stream, or nothing if this release does not know it. */
export const kindOfStream = (stream: StreamName): StreamKind | undefined => STREAM_KINDS.find((kind) => stream.startsWith(`${kind}-`));
