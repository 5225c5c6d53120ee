import { html } from '../base/html.ts';
import type { Draft } from './drafts.ts';

/** Above a form whose content is from an earlier visit. */
export const Restored = ({ draft }: { readonly draft: Pick<Draft<unknown>, 'isRestored' | 'startAgain'> }) =>
  draft.isRestored &&
  html`<div class="finding restored" role="status"><p>Your input from before is here again. It was not saved yet.</p><button type="button" class="quiet" onClick=${draft.startAgain}>Discard it</button></div>`;
