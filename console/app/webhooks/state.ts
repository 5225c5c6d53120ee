import type { ShownDeliveryState } from '#shared/rest/delivery.ts';
import { html } from '../base/html.ts';
import { Badge } from '../base/parts.ts';

type Shown = {
  readonly state: ShownDeliveryState;
  readonly attempts: number;
  readonly lastError?: string | null;
};

/** A delivery that waits for another attempt has failed, though its state in the ledger is “due”. */
export const wordOf = ({
  state,
  attempts,
}: Shown): readonly [word: string, tone: 'good' | 'bad' | 'warn' | 'plain'] => {
  if (state === 'due') return attempts > 0 ? ['failed, will be retried', 'bad'] : ['waiting', 'warn'];
  const tones = { delivered: 'good', dead: 'bad', withheld: 'plain' } as const;
  return [state, tones[state]];
};

export const DeliveryState = ({ delivery }: { readonly delivery: Shown }) => {
  const [word, tone] = wordOf(delivery);
  return html`<${Badge} tone=${tone}>${word}<//>`;
};
