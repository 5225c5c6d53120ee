import { type Action, actionsHere } from './base/actions.ts';
import { Dialog } from './base/dialog.ts';
import { html } from './base/html.ts';

const ALWAYS: readonly Pick<Action, 'says' | 'keys'>[] = [{ says: 'Close what is open', keys: 'Escape' }];

/** The keys of this page, from the table that handles them. */
export const Help = ({
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

export const Keys = ({ keys }: { readonly keys: string }) =>
  html`<span class="combination">${keys.split(' ').map((key) => html`<kbd>${IS_APPLE ? key.replace('Control+', '⌘ ') : key.replace('Control+', 'Ctrl ')}</kbd>`)}</span>`;
