import type { Row } from '#kernel/registry/registry.ts';
import { graphqlClientOf } from '../graphql/graphql-client.ts';
import type { Checks } from './checks.ts';
import type { Actor, Stage } from './stage.ts';

/** A list in pages, by REST and as a GraphQL connection, and its expected content in order. */
type Paged = {
  /** With its parameters and the page size. */
  readonly path: string;
  readonly size: number;
  readonly wanted: readonly string[];
  readonly keyOf: (item: Row) => string;
  readonly connection: Connection;
  /**
   * Its cursors lie between items: `before` the cursor of `next` is the page itself, and so is `after` that
   * of `prev`.
   */
  readonly hasPlaces?: true;
};
type Connection = {
  /** The query around the connection. */
  readonly before: string;
  readonly after: string;
  readonly name: string;
  readonly args: string;
  /** The selection on each node. */
  readonly node: string;
  readonly keyOf: (node: Row) => string;
};
type Reader = { readonly stage: Stage; readonly checks: Checks; readonly by: Actor };

const PAGES = 4;
/**
 * Gives several pages, but not too many; a page of one item would have no order, so two if that leaves more
 * than one page.
 */
export const sizeFor = (count: number): number =>
  Math.max(count > 2 ? 2 : 1, Math.min(100, Math.ceil(count / PAGES)));
/** Ends a list whose links lead round in a circle. */
const PAGES_MAX = 200;

/**
 * Reads forward to the end and back to the beginning: the same items in the same order, without gaps and
 * duplicates.
 */
export const checkBothWays = async (reader: Reader, paged: Paged): Promise<void> => {
  const { checks } = reader;
  const { wanted, path } = paged;
  for (const [way, read] of [
    ['REST', readByRest(reader, paged)],
    ['GraphQL', readByGraphql(reader, paged)],
  ] as const) {
    const forward = await walk(read, 'forward', undefined);
    checks.equal(
      forward.flatMap(({ keys }) => keys),
      wanted,
      `${path} by ${way}, page by page`,
    );
    if (way === 'REST' && paged.hasPlaces) await checkPlaces(read, checks, { path, pages: forward });
    const last = forward.at(-1);
    const back = last?.previous === undefined ? [] : await walk(read, 'back', last.previous);
    const whole = [...back.toReversed().flatMap(({ keys }) => keys), ...(last?.keys ?? [])];
    checks.equal(whole, wanted, `${path} by ${way}, back from the last page`);
    if (forward.length > 1)
      checks.equal(back.length > 0, true, `${path} by ${way} has a page before the last`);
    // The first page, reached by going back, leads forward again.
    const again = back.at(-1)?.next === undefined ? [] : await walk(read, 'forward', back.at(-1)?.next);
    if (back.length > 0)
      checks.equal(
        [...(back.at(-1)?.keys ?? []), ...again.flatMap(({ keys }) => keys)],
        wanted,
        `${path} by ${way}, on again from the first page`,
      );
  }
};

const checkPlaces = async (
  read: Read,
  checks: Checks,
  { path, pages }: { readonly path: string; readonly pages: readonly Page[] },
): Promise<void> => {
  for (const { keys, next, previous } of pages.slice(0, 2))
    for (const from of [next?.replace('after=', 'before='), previous?.replace('before=', 'after=')])
      if (from !== undefined)
        checks.equal(
          (await read('forward', from)).keys,
          keys,
          `${from}, the other side of a cursor in ${path}`,
        );
};

type Page = {
  readonly keys: readonly string[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
};
type Read = (direction: 'forward' | 'back', from: string | undefined) => Promise<Page>;

const walk = async (
  read: Read,
  direction: 'forward' | 'back',
  from: string | undefined,
): Promise<readonly Page[]> => {
  const pages: Page[] = [];
  let at = from;
  do {
    const page = await read(direction, at);
    pages.push(page);
    at = direction === 'forward' ? page.next : page.previous;
  } while (at !== undefined && pages.length < PAGES_MAX);
  return pages;
};

/** Follows its links, from page to page. */
const readByRest =
  ({ stage, by }: Reader, { path, keyOf }: Paged): Read =>
  async (_, from) => {
    const { status, body, headers } = await stage.read<readonly Row[]>(from ?? path, by);
    if (status !== 200) throw new Error(`${from ?? path} was refused: ${JSON.stringify(body)}`);
    const link = (rel: string): string | undefined =>
      new RegExp(`<([^>]+)>; rel="${rel}"`).exec(headers.get('link') ?? '')?.[1];
    return { keys: body.map(keyOf), next: link('next'), previous: link('prev') };
  };

type Shown = {
  readonly nodes: readonly Row[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
};

const readByGraphql =
  ({ stage, by }: Reader, { size, connection: { before, after, name, args, node, keyOf } }: Paged): Read =>
  async (direction, from) => {
    const place = direction === 'forward' ? `first: ${size}` : `last: ${size}`;
    const cursor =
      from === undefined ? '' : `, ${direction === 'forward' ? 'after' : 'before'}: ${JSON.stringify(from)}`;
    const info = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const text = `{ ${before} page: ${name}(${place}${cursor}${args}) { nodes { ${node} } ${info} } ${after} }`;
    const { data, errors } = await graphqlClientOf(stage.installation)<Readonly<Record<string, unknown>>>(
      text,
      { token: by.token },
    );
    const page = (data?.page ?? (data?.one as Row | null | undefined)?.page) as Shown | undefined;
    if (page === undefined) throw new Error(`${text} was refused: ${JSON.stringify(errors)}`);
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    // The requested direction shows whether there is more; the opposite one always leads back.
    const isBack = direction === 'back';
    return {
      keys: page.nodes.map(keyOf),
      next: (isBack || hasNextPage) && endCursor !== null ? endCursor : undefined,
      previous:
        (isBack ? hasPreviousPage : from !== undefined) && startCursor !== null ? startCursor : undefined,
    };
  };
