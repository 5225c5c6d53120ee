import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { html } from './html.ts';

type DialogOptions = {
  readonly title: string;
  /** Escape calls it too. */
  readonly close: () => void;
  readonly class?: string;
  readonly children?: ComponentChildren;
};

/** A modal dialogue. When it closes, the focus returns to where it was. */
export const Dialog = ({ title, close, class: looks = '', children }: DialogOptions) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key press, which would otherwise go to the page.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  const cancel = (event: Event) => {
    // The event of a field for files, which comes up to here.
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    close();
  };
  // The browser sends it late: by then, another dialogue may be open in place of this one.
  const closed = () => dialog.current && close();
  return html`<dialog ref=${dialog} class=${looks} aria-labelledby=${id} onCancel=${cancel} onClose=${closed}><h2 id=${id}>${title}</h2>${children}</dialog>`;
};
