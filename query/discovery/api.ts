export const API_CATALOG_PATH = '/.well-known/api-catalog';

/** An interface with an address of its own, as the catalog of interfaces names it (RFC 9727). */
export type Api = {
  readonly path: string;
  readonly title: string;
  /** For programs. */
  readonly descriptions?: readonly { readonly href: string; readonly type: string; readonly title: string }[];
  /** For people, if the documentation is served. */
  readonly page?: string;
};
