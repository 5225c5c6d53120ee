import { useState } from 'preact/hooks';
import { useActions, useKeyboard } from './base/actions.ts';
import { html } from './base/html.ts';
import { Help, Keys } from './help.ts';
import { Palette } from './palette.ts';

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
