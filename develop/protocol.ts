import type { Digests } from './digest.ts';

/** The environment variable of a process that `dev` has started: its domain is replaced as its files change. */
export const DEVELOPED = 'ANNALS_DEVELOPED';

export const isDeveloped = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  environment[DEVELOPED] !== undefined;

/** From `dev` to a process that it has started. */
export type Request =
  | { readonly does: 'load' }
  | { readonly does: 'serve'; readonly isFirst: boolean }
  /** Once the former process has left the ports. */
  | { readonly does: 'listen' };

/** From that process. */
export type Report =
  | { readonly says: 'ready' }
  | { readonly says: 'accepted'; readonly files: Digests }
  | { readonly says: 'refused'; readonly files: Digests; readonly why: string }
  /** All roles are open, and it only has to listen. */
  | { readonly says: 'opened' }
  | { readonly says: 'serving' }
  | { readonly says: 'note'; readonly line: string };
