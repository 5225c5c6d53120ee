import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { Act } from './parts.ts';

type ConfirmOptions = {
  /** On the button that asks. */
  readonly label: string;
  readonly title: string;
  /** On the button that does it. */
  readonly doing: string;
  readonly act: () => Promise<unknown>;
  readonly kind?: string;
  readonly children?: ComponentChildren;
};

/** A button that says what will happen, and asks, before it does it. */
export const Confirm = ({ label, kind = '', ...asked }: ConfirmOptions) => {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" class=${kind} onClick=${() => setOpen(true)}>${label}</button>
    ${isOpen && html`<${Question} ...${asked} kind=${kind} close=${() => setOpen(false)} />`}`;
};

const Question = ({ title, doing, act, kind = '', children, close }: Omit<ConfirmOptions, 'label'> & { readonly close: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  // Where somebody presses it twice, the first has closed it.
  const done = async () => {
    await act();
    dialog.current?.close();
  };
  return html`<dialog ref=${dialog} aria-labelledby=${id} onClose=${close}>
    <h2 id=${id}>${title}</h2>
    ${children}
    <div class="tools"><${Act} act=${done} kind=${`primary ${kind}`}>${doing}<//><button type="button" onClick=${() => dialog.current?.close()}>Cancel</button></div>
  </dialog>`;
};
