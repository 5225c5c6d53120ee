import type { Api } from './api.ts';

const PAGES_MAX = 100;

/** Reads a whole list, for an action on all of its items: a page of it shows only the first. */
export const readAll = async <Item>(api: Pick<Api, 'get'>, path: string): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let at: string | undefined = path;
  for (let pages = 0; at !== undefined; pages += 1) {
    // Nothing is done rather than a part of it.
    if (pages === PAGES_MAX) throw new RangeError(`There are more than ${items.length} items.`);
    const { body, next }: { readonly body: readonly Item[]; readonly next: string | undefined } =
      await api.get(at);
    items.push(...body);
    at = next;
  }
  return items;
};
