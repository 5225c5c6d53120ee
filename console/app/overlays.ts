import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import { type Action, act, actionsHere, useActions, useKeyboard } from './base/actions.ts';
import { Combobox } from './base/combobox.ts';
import { Dialog } from './base/dialog.ts';
import { html } from './base/html.ts';
import { pathOfSubject } from './base/names.ts';
import { pageOfItem, useDomain } from './data/domain.ts';
import { findAnywhere, useFound } from './data/find.ts';

/** Help and the palette, above any page. */
export const Overlays = () => {
  const [isOpen, setOpen] = useState<'help' | 'palette'>();
  const close = () => setOpen(undefined);
  useKeyboard();
  useActions([
    { says: 'Search', keys: '/', to: () => focusSearch() || setOpen('palette'), isKeyOnly: true },
    { says: 'Find a page or an action', keys: 'Control+k', to: () => setOpen('palette'), isKeyOnly: true },
    { says: 'Show keyboard shortcuts', keys: '?', to: () => setOpen('help') },
  ]);
  return html`<div class="overlays">
    <button type="button" class="quiet" onClick=${() => setOpen('palette')} aria-keyshortcuts="Control+K">Go to … <${Keys} keys="Control+k" /></button>
    <button type="button" class="quiet" onClick=${() => setOpen('help')} aria-keyshortcuts="?">Keys</button>
    ${isOpen === 'help' && html`<${Help} close=${close} />`}
    ${isOpen === 'palette' && html`<${Palette} close=${close} />`}
  </div>`;
};

/** Returns whether this page has a search field. */
const focusSearch = (): boolean => {
  const input = document.querySelector<HTMLInputElement>('main :is(search, [role=search]) input');
  input?.focus();
  return input !== null;
};

/** An action of this page, or an item that was found. */
type Choice = Action & { readonly of?: string };

const FOUND_MAX = 5;

/** Finds pages, commands of the current page, and items. */
const Palette = ({ close }: { readonly close: () => void }) => {
  const [text, setText] = useState('');
  const items = useItems(text.trim());
  // Not the items of an earlier text, which may no longer match.
  const choices = [...matching(text), ...(items ?? [])];
  const none = items === undefined ? 'Searching …' : 'Nothing found.';
  const choose = (choice: Choice) => {
    close();
    // After the dialogue has closed, so that the action can set the focus.
    setTimeout(() => act(choice));
  };
  const show = ({ says, of, keys }: Choice) =>
    html`<bdi>${says}</bdi> ${of && html`<span class="soft">${of}</span>`}${keys && html`<${Keys} keys=${keys} />`}`;
  return html`<${Dialog} title="Find a page or an action" close=${close} class="palette">
    <${Combobox} text=${text} setText=${setText} choices=${choices} choose=${choose} show=${show} isSearching=${items === undefined} attributes=${{ 'aria-label': 'Page, command or item' }} />
    <p class="soft" role="status">${choices.length > 0 ? `${plural(choices.length, 'result')}. Arrows choose, Enter opens.` : none}</p>
  <//>`;
};

/** Actions that contain every word. Those registered last belong to the current page, and come first. */
const matching = (text: string): readonly Choice[] => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = actionsHere().filter(
    ({ isKeyOnly, says }) => !isKeyOnly && words.every((word) => says.toLowerCase().includes(word)),
  );
  return all.toReversed().toSorted((one, other) => Number(isPage(one)) - Number(isPage(other)));
};

const isPage = ({ keys }: Action): boolean => keys?.startsWith('g ') ?? false;

/**
 * Items of every searchable kind, and the one with this number; undefined until the search for this text is
 * done.
 */
const useItems = (text: string): readonly Choice[] | undefined => {
  const domain = useDomain();
  return useFound(text, 'palette', async (api, sought, signal): Promise<readonly Choice[]> => {
    const history = pathOfSubject(sought);
    const items = await findAnywhere(api, domain, { text: sought, limit: FOUND_MAX, signal });
    return [
      ...(history === undefined ? [] : [{ says: `History of ${sought}`, to: history }]),
      ...items.map(({ id, title, kind }) => ({ says: title, of: kind.title, to: pageOfItem(kind, id) })),
    ];
  });
};

const ALWAYS: readonly Pick<Action, 'says' | 'keys'>[] = [{ says: 'Close what is open', keys: 'Escape' }];

/** The keys of this page, from the table that handles them. */
const Help = ({
  close,
}: {
  readonly close: () => void;
}) => html`<${Dialog} title="Keys" close=${close} class="help">
  <dl class="keys">${[...actionsHere(), ...ALWAYS].map(
    ({ says, keys }) =>
      keys !== undefined && html`<div><dt>${says}</dt><dd><${Keys} keys=${keys} /></dd></div>`,
  )}</dl>
  <div class="tools"><button type="button" onClick=${close}>Close</button></div>
<//>`;

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

const Keys = ({ keys }: { readonly keys: string }) =>
  html`<span class="combination">${keys.split(' ').map((key) => html`<kbd>${IS_APPLE ? key.replace('Control+', '⌘ ') : key.replace('Control+', 'Ctrl ')}</kbd>`)}</span>`;
