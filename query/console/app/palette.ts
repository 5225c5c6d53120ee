import { useEffect, useId, useState } from 'preact/hooks';
import type { DomainFacts, KindFacts } from '../domain-facts.ts';
import { type Action, act, actionsHere } from './actions.ts';
import type { Api } from './api.ts';
import { useApi } from './asking.ts';
import { HAL, type Page, pageOfItem, titleOf, useDomain } from './data/domain.ts';
import { Dialog } from './dialog.ts';
import { plural } from './format.ts';
import { Keys } from './help.ts';
import { html } from './html.ts';
import { pathOfSubject } from './names.ts';

/** What can be chosen: an action of this page, or an item that was found. */
type Choice = Action & { readonly of?: string };

const SETTLES_MS = 200;
const FOUND_MAX = 5;

/** Finds pages, commands of what is open, and items. */
export const Palette = ({ close }: { readonly close: () => void }) => {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const items = useItems(text.trim());
  const choices = [...matching(text), ...items];
  const chosen = Math.min(at, choices.length - 1);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    close();
    // Once the dialogue is closed, so that what follows may have the focus.
    setTimeout(() => act(choice));
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + choices.length) % Math.max(choices.length, 1));
    else if (event.key === 'Enter') choose(choices[chosen]);
    else return;
    event.preventDefault();
  };
  const write = (event: Event) => {
    setText((event.currentTarget as HTMLInputElement).value);
    setAt(0);
  };
  useEffect(() => document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [list, chosen]);
  return html`<${Dialog} title="Go to, or do" close=${close} class="palette">
    <input type="text" role="combobox" aria-label="Page, command or item" aria-expanded="true" aria-controls=${list}
      aria-activedescendant=${chosen < 0 ? null : `${list}-${chosen}`} autocomplete="off" spellcheck="false" dir="auto"
      value=${text} onInput=${write} onKeyDown=${press} />
    <ul id=${list} role="listbox" aria-label="Found">${choices.map(
      (choice, index) => html`<li id=${`${list}-${index}`} role="option" aria-selected=${index === chosen} onClick=${() => choose(choice)}>
        <bdi>${choice.says}</bdi> ${choice.of && html`<span class="soft">${choice.of}</span>`}${choice.keys && html`<${Keys} keys=${choice.keys} />`}</li>`,
    )}</ul>
    <p class="soft" role="status">${choices.length === 0 ? 'Nothing found.' : `${plural(choices.length, 'result')}. Arrows choose, Enter opens.`}</p>
  <//>`;
};

/** Every word is somewhere in it. What was registered last belongs to what is open, and comes first. */
const matching = (text: string): readonly Choice[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = actionsHere().filter(({ isKeyOnly, says }) => !isKeyOnly && words.every((word) => says.toLowerCase().includes(word)));
  return all.toReversed().toSorted((one, other) => Number(isPage(one)) - Number(isPage(other)));
};

const isPage = ({ keys }: Action): boolean => keys?.startsWith('g ') ?? false;

/** Items of every kind that can be searched, and the one whose number it is. */
const useItems = (text: string): readonly Choice[] => {
  const api = useApi();
  const domain = useDomain();
  const [found, setFound] = useState<readonly Choice[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const items = text === '' ? [] : await search(api, domain, { text, signal: leaving.signal });
      if (!leaving.signal.aborted) setFound(items);
    }, SETTLES_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [api, domain, text]);
  return found;
};

type Sought = { readonly text: string; readonly signal: AbortSignal };

const search = async (api: Api, { kinds }: DomainFacts, sought: Sought): Promise<readonly Choice[]> => {
  const history = pathOfSubject(sought.text);
  const searched = await Promise.all(
    kinds.filter(({ list }) => list.hasSearch && list.path !== undefined).map((kind) => searchKind(api, kind, sought)),
  );
  return [...(history === undefined ? [] : [{ says: `History of ${sought.text}`, to: history }]), ...searched.flat()];
};

/** What may not be searched has nothing to show. */
const searchKind = async (api: Api, kind: KindFacts, { text, signal }: Sought): Promise<readonly Choice[]> => {
  const query = new URLSearchParams({ q: text, limit: String(FOUND_MAX) });
  const { body } = await api.get<Page>(`${kind.list.path}?${query}`, signal, HAL).catch(() => ({ body: undefined }));
  return (body?._embedded.items ?? []).map((item) => ({ says: titleOf(kind, item), of: kind.title, to: pageOfItem(kind, item.id) }));
};
