import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.ts';
import { html } from './html.ts';
import { Act } from './parts.ts';

type ConfirmOptions = {
  /** The text of the button that opens the question. */
  readonly label: string;
  readonly title: string;
  /** The text of the button that acts. */
  readonly doing: string;
  readonly act: () => Promise<unknown>;
  readonly kind?: string;
  readonly children?: ComponentChildren;
};

/** A button that explains what will happen, and asks before it acts. */
export const Confirm = ({ label, kind = '', ...asked }: ConfirmOptions) => {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" class=${kind} onClick=${() => setOpen(true)}>${label}</button>
    ${isOpen && html`<${Question} ...${asked} kind=${kind} close=${() => setOpen(false)} />`}`;
};

const Question = ({
  title,
  doing,
  act,
  kind = '',
  children,
  close,
}: Omit<ConfirmOptions, 'label'> & { readonly close: () => void }) => {
  const done = async () => {
    await act();
    close();
  };
  return html`<${Dialog} title=${title} close=${close}>
    ${children}
    <div class="tools"><${Act} act=${done} kind=${`primary ${kind}`}>${doing}<//><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
};
