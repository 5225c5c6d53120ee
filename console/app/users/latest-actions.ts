import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Subject } from '../base/names.ts';
import { Whole } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import { eventText } from '../data/item.ts';

type Deed = {
  readonly cursor: string;
  readonly type: string;
  readonly at: string;
  readonly subject: string;
  readonly client?: string | null;
};

const SHOWN = 20;

/** The latest events of a user, with the application of each. */
export const LatestActions = ({ id }: { readonly id: string }) => {
  const pages = usePages<Deed>(`/events?sort=-cursor&limit=${SHOWN}&actor=user:${id}`);
  return html`<section aria-labelledby="deeds">
    <h2 id="deeds">Latest actions</h2>
    <p><a href=${`/console/events?by=user:${id}`}>Search and filter these events</a></p>
    <${Whole} asked=${pages} show=${(deeds: readonly Deed[]) => html`
      ${deeds.length === 0 && html`<p class="soft">There are no events of this user.</p>`}
      <ol class="latest">${deeds.map(
        ({
          cursor,
          type,
          at,
          subject,
          client,
        }) => html`<li key=${cursor}><strong>${eventText(type)}</strong> <${Subject} subject=${subject} />
          <br /><span class="soft"><${Time} at=${at} short />${client && html`, through ${clientText(client)}`}</span></li>`,
      )}</ol>
      ${pages.more && html`<p><button type="button" onClick=${pages.more}>Show more</button></p>`}`} />
  </section>`;
};

const TOKEN = 'annals-token:';

const clientText = (client: string) =>
  client.startsWith(TOKEN)
    ? html`the access token <code>${client.slice(TOKEN.length)}</code>`
    : html`<code>${client}</code>`;
