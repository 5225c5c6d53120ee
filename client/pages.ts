import { jsonIn } from './problem.ts';

/** A page of a list: its items, and the cursors of its neighbours. */
export type Page<T> = {
  readonly items: readonly T[];
  /** Cursors for `after` and `before`; undefined if there is no such page. */
  readonly after: string | undefined;
  readonly before: string | undefined;
  /** With time travel: the cursor of the snapshot. */
  readonly asOf: string | undefined;
};

/** A list, read page by page as the loop proceeds. */
export type Listing<T> = AsyncIterable<T> & {
  pages(): AsyncIterable<Page<T>>;
  page(): Promise<Page<T>>;
  /** The maximum number of items; all are in one array. */
  take(count: number): Promise<readonly T[]>;
};

type ReadPage<T> = (after: string | undefined) => Promise<Page<T>>;

export const listingOf = <T>(read: ReadPage<T>): Listing<T> => {
  async function* pages(): AsyncGenerator<Page<T>> {
    let page = await read(undefined);
    yield page;
    while (page.after !== undefined) {
      page = await read(page.after);
      yield page;
    }
  }
  async function* items(): AsyncGenerator<T> {
    for await (const page of pages()) yield* page.items;
  }
  return {
    pages,
    page: () => read(undefined),
    async take(count) {
      const taken: T[] = [];
      if (count <= 0) return taken;
      for await (const item of items()) if (taken.push(item) >= count) break;
      return taken;
    },
    [Symbol.asyncIterator]: items,
  };
};

export const pageIn = async <T>(response: Response): Promise<Page<T>> => {
  const links = linksIn(response.headers.get('Link') ?? '');
  return {
    items: await jsonIn<readonly T[]>(response),
    after: cursorIn(links.get('next'), 'after'),
    before: cursorIn(links.get('prev'), 'before'),
    asOf: response.headers.get('As-Of') ?? undefined,
  };
};

/** The cursor of the next page; undefined after the last one. */
export const afterIn = ({ headers }: Response): string | undefined =>
  cursorIn(linksIn(headers.get('Link') ?? '').get('next'), 'after');

/** `Link` (RFC 8288): addresses by relation. */
const linksIn = (header: string): ReadonlyMap<string, string> =>
  new Map(
    [...header.matchAll(/<([^>]*)>\s*;[^,<]*\brel="([^"]*)"/g)].map(([, href = '', rel = '']) => [rel, href]),
  );

export const ANY_ORIGIN = 'http://any.invalid';
const cursorIn = (href: string | undefined, parameter: 'after' | 'before'): string | undefined =>
  (href && new URL(href, ANY_ORIGIN).searchParams.get(parameter)) || undefined;
