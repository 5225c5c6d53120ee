import { Copy } from '../base/copy.ts';
import { html } from '../base/html.ts';

/** The secret is shown only once. */
export const Secret = ({
  secret,
  of = 'the program',
}: {
  readonly secret: string;
  readonly of?: string;
}) => html`<div class="finding good" role="status">
  <p><strong>This is the secret.</strong> It is shown only once: store it where ${of} can read it.</p>
  <p class="secret"><code>${secret}</code> <${Copy} text=${secret} /></p>
</div>`;
