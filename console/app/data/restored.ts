import { html } from '../base/html.ts';
import { Time } from '../base/time.ts';
import type { Draft } from './drafts.ts';

type RestoredOptions = {
  readonly draft: Pick<Draft<unknown>, 'isRestored' | 'offered' | 'startAgain'>;
};

/** Above a form whose content is from an earlier visit, or for which a tab left some behind. */
export const Restored = ({ draft: { isRestored, offered, startAgain } }: RestoredOptions) => {
  if (isRestored)
    return html`<div class="finding restored" role="status"><p>Your input from before is here again. It was not saved yet.</p><button type="button" class="quiet" onClick=${startAgain}>Discard it</button></div>`;
  if (offered === undefined) return null;
  return html`<div class="finding restored" role="status"><p>You left input in this form that was not saved, <${Time} at=${offered.at} short clock />.</p><button type="button" onClick=${offered.take}>Restore it</button><button type="button" class="quiet" onClick=${offered.discard}>Discard it</button></div>`;
};
