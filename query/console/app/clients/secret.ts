import { useState } from 'preact/hooks';
import { html } from '../html.ts';

/** There is no second time to see it. */
export const Secret = ({ secret }: { readonly secret: string }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(secret).then(() => setCopied(true));
  return html`<div class="finding good" role="status">
    <p><strong>This is the secret.</strong> It is shown this once: put it where the program finds it.</p>
    <p class="secret"><code>${secret}</code> <button type="button" onClick=${copy}>${isCopied ? 'Copied' : 'Copy'}</button></p>
  </div>`;
};
