/** The environment variable of a process that `dev` has started: its domain is replaced as its files change. */
export const DEVELOPED = 'ANNALS_DEVELOPED';

export const isDeveloped = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  environment[DEVELOPED] !== undefined;

/** From `dev` to a process that it has started. */
export type Request = { readonly does: 'load' } | { readonly does: 'serve'; readonly isFirst: boolean };

/** From that process. */
export type Report =
  | { readonly says: 'ready' }
  | { readonly says: 'accepted'; readonly files: readonly string[] }
  | { readonly says: 'refused'; readonly files: readonly string[]; readonly why: string }
  | { readonly says: 'serving' }
  | { readonly says: 'note'; readonly line: string };
