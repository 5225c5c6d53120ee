import { type Page, pageIn } from '../client/pages.ts';
import type { Key, Row } from './copy.ts';
import type { Asked } from './source.ts';

/** Reads a list in pages, and a page that has not changed without its content. */

const PAGE_ROWS_MAX = 100;

export type Read = {
  readonly rows: ReadonlyMap<Key, Row>;
  readonly pages: number;
  readonly isComplete: boolean;
};
type Kept = { readonly etag: string; readonly page: Page<Row> };

export const readerOf = ({ requester, path, query, limit, keyOf }: Asked) => {
  /** The pages of the last read, by their cursor. */
  let kept = new Map<string | undefined, Kept>();

  const readPage = async (
    after: string | undefined,
    { rows, consistency, signal }: { rows: number; consistency: string | undefined; signal: AbortSignal },
  ): Promise<{ readonly page: Page<Row>; readonly etag: string | null }> => {
    const known = kept.get(after);
    const response = await requester.send('GET', path, {
      query: { ...query, limit: rows, after },
      options: {
        signal,
        ...(consistency !== undefined && { consistency }),
        ...(known && { headers: { 'If-None-Match': known.etag } }),
      },
    });
    const etag = response.headers.get('ETag');
    return known !== undefined && response.status === 304
      ? known
      : { page: await pageIn<Row>(response), etag };
  };

  return async (consistency: string | undefined, signal: AbortSignal): Promise<Read> => {
    const rows = new Map<Key, Row>();
    const found: typeof kept = new Map();
    let after: string | undefined;
    let pages = 0;
    do {
      const { page, etag } = await readPage(after, {
        rows: Math.min(PAGE_ROWS_MAX, limit),
        consistency,
        signal,
      });
      if (etag !== null) found.set(after, { etag, page });
      for (const row of page.items) if (rows.size < limit) rows.set(keyOf(row), row);
      pages += 1;
      after = page.after;
    } while (after !== undefined && rows.size < limit && !found.has(after));
    kept = found;
    return { rows, pages, isComplete: after === undefined };
  };
};
