import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
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
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return html`<dialog ref=${dialog} class=${looks} aria-labelledby=${id} onClose=${close}><h2 id=${id}>${title}</h2>${children}</dialog>`;
};
