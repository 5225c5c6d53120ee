import type { Webhook } from '#shared/rest/webhook.ts';
import { usePages } from '../asking.ts';
import { html } from '../html.ts';
import { Subject } from '../names.ts';
import { Badge, Heading, Listing } from '../parts.ts';
import { Time } from '../time.ts';

const EVERY_MS = 15_000;

export const WebhookState = ({ webhook: { enabled, disabledReason, missedSince } }: { readonly webhook: Webhook }) => {
  if (!enabled)
    return html`<${Badge} tone="bad">disabled<//>${disabledReason && html` <span class="soft">${disabledReason.replaceAll('_', ' ')}</span>`}`;
  return missedSince === undefined ? html`<${Badge} tone="good">enabled<//>` : html`<${Badge} tone="warn">has missed changes<//>`;
};

/** Where changes are sent to, of everybody. */
export const Webhooks = () => {
  const pages = usePages<Webhook>('/webhooks?limit=50', EVERY_MS);
  return html`
    <${Heading} title="Webhooks" />
    <${Listing}
      pages=${pages}
      caption="Webhook endpoints, the latest first"
      keyOf=${({ id }: Webhook) => String(id)}
      empty=${html`<p>There is no webhook. Whoever wants to be told of changes registers an address with <code>POST /webhooks</code> (docs/webhooks.md); it stands here then, with all that was sent to it.</p>`}
      columns=${[
        {
          label: 'Endpoint',
          cell: ({ id, url, description }: Webhook) =>
            html`<a class="long" href=${`/console/webhooks/${id}`}>${url}</a>${description && html`<br /><span class="soft">${description}</span>`}`,
        },
        { label: 'State', cell: (webhook: Webhook) => html`<${WebhookState} webhook=${webhook} />` },
        { label: 'Is told of', cell: ({ eventTypes }: Webhook) => html`<code>${eventTypes.join(', ')}</code>` },
        { label: 'Owner', cell: ({ ownerId }: Webhook) => html`<${Subject} subject=${`user-${ownerId}`} />` },
        { label: 'Made', cell: ({ createdAt }: Webhook) => html`<${Time} at=${createdAt} />` },
      ]}
    />`;
};
