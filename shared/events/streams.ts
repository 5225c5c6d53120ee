import type { StreamName } from '#shared/brands.ts';

/** The kinds of streams; each belongs to one aggregate. */
export type StreamKind =
  | 'user'
  | 'article'
  | 'comment'
  | 'webhook'
  | 'email'
  | 'command'
  | 'session'
  | 'grant'
  | 'client'
  | 'account'
  | 'invitation';

/** The stream of one aggregate. The name is storage: it must not change. */
export const streamName = (kind: StreamKind, key: number | string): StreamName => `${kind}-${key}` as StreamName;
