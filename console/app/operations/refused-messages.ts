import type { ListedRefusal } from '#kernel/sender/refused-messages.ts';
import { countText } from '#shared/format.ts';
import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Listing } from '../base/parts.ts';
import { Time } from '../base/time.ts';

const EVERY_MS = 5_000;

/** Messages of senders that the inbox refused. */
export const RefusedMessages = () => {
  const pages = usePages<ListedRefusal>('/operations/inbox', EVERY_MS);
  return html`
    <h2>Refused messages</h2>
    <p>Messages of other services that the inbox refused, without their content. The latest of each sender and reason are kept for 30 days.</p>
    <${Listing}
      pages=${pages}
      caption="Refused messages"
      keyOf=${({ id }: ListedRefusal) => id}
      empty=${html`<p><strong>No message was refused.</strong></p>`}
      columns=${[
        { label: 'Sender', cell: ({ sender }: ListedRefusal) => sender },
        { label: 'At', cell: ({ at }: ListedRefusal) => html`<${Time} at=${at} clock />` },
        {
          label: 'Reason',
          cell: ({ code, reason }: ListedRefusal) =>
            html`${reason} <span class="soft"><code>${code}</code></span>`,
        },
        { label: 'Message', cell: messageOf },
        {
          label: 'Bytes',
          numeric: true,
          cell: ({ bytes }: ListedRefusal) =>
            bytes === null ? html`<span class="soft">–</span>` : countText(bytes),
        },
      ]}
    />`;
};

const messageOf = ({ messageId, messageType }: ListedRefusal) =>
  messageId === null
    ? html`<span class="soft">not verified</span>`
    : html`<code>${messageId}</code> <span class="soft">${messageType}</span>`;
