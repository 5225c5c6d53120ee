import { useState } from 'preact/hooks';
import { html } from './html.ts';

/** Copies a text, and confirms that. */
export const Copy = ({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return html`<button type="button" onClick=${copy}>${isCopied ? 'Copied' : label}</button>`;
};
