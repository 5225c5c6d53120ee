import { useEffect, useState } from 'preact/hooks';
import type { DomainFacts, KindFacts } from '../../domain-facts.ts';
import type { Api } from '../base/api.ts';
import { useApi } from '../base/asking.ts';
import { HAL, type Page, titleOf } from './domain.ts';
import type { Item } from './links.ts';

/** An item that was found, by its name. */
export type Option = { readonly id: string; readonly title: string };

export type Sought = { readonly text: string; readonly limit: number; readonly signal: AbortSignal };

export const OPTIONS_MAX = 100;

export const optionsOf = (kind: KindFacts, items: readonly Item[]): readonly Option[] =>
  items.map((item) => ({ id: String(item.id), title: titleOf(kind, item) }));

/** Finds items for a text; kinds that the user may not list have none. */
export const findItems = (api: Api, kind: KindFacts, sought: Sought): Promise<readonly Option[]> =>
  (kind.list.hasSearch ? bySearch : lookThrough)(api, kind, sought);

const bySearch = async (
  api: Api,
  kind: KindFacts,
  { text, limit, signal }: Sought,
): Promise<readonly Option[]> => {
  const query = new URLSearchParams({ q: text, limit: String(limit) });
  const found = await api.get<Page>(`${kind.list.path}?${query}`, signal, HAL).catch(() => undefined);
  return found === undefined ? [] : optionsOf(kind, found.body._embedded.items);
};

const PAGES_MAX = 10;

/** Without a search, compares the text with the newest items. */
const lookThrough = async (
  api: Api,
  kind: KindFacts,
  { text, limit, signal }: Sought,
): Promise<readonly Option[]> => {
  const words = text.toLowerCase();
  const found: Option[] = [];
  let path: string | undefined = `${kind.list.path}?limit=${OPTIONS_MAX}`;
  for (let pages = 0; pages < PAGES_MAX && path !== undefined && found.length < limit; pages += 1) {
    const answer: { readonly body: Page } | undefined = await api
      .get<Page>(path, signal, HAL)
      .catch(() => undefined);
    if (answer === undefined) break;
    found.push(
      ...optionsOf(kind, answer.body._embedded.items).filter(
        ({ id, title }) => id === text || title.toLowerCase().includes(words),
      ),
    );
    path = answer.body._links.next?.href;
  }
  return found.slice(0, limit);
};

export type FoundItem = Option & { readonly kind: KindFacts };

/** Items of every kind whose lists can be searched. */
export const findAnywhere = async (
  api: Api,
  { kinds }: DomainFacts,
  sought: Sought,
): Promise<readonly FoundItem[]> => {
  const searched = await Promise.all(
    kinds
      .filter(({ list }) => list.hasSearch && list.path !== undefined)
      .map(async (kind) =>
        (await findItems(api, kind, sought)).map((option): FoundItem => ({ ...option, kind })),
      ),
  );
  return searched.flat();
};

const SETTLES_MS = 200;

type Find<Found> = (api: Api, text: string, signal: AbortSignal) => Promise<readonly Found[]>;

/** The items found for a text, once the user stops typing; undefined until then. `of` names the kind of search. */
export const useFound = <Found>(
  text: string,
  of: string,
  find: Find<Found>,
): readonly Found[] | undefined => {
  const api = useApi();
  const [found, setFound] = useState<{ readonly text: string; readonly items: readonly Found[] }>({
    ...{ text: '', items: [] },
  });
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const items = text === '' ? [] : await find(api, text, leaving.signal);
      if (!leaving.signal.aborted) setFound({ text, items });
    }, SETTLES_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [api, of, text]);
  return found.text === text ? found.items : undefined;
};
