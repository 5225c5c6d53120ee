import type { OperatorCommand } from '#shared/rest/operator.ts';
import { usePages } from '../asking.ts';
import { html } from '../html.ts';
import { Actor, Subject } from '../names.ts';
import { Badge, Heading, Listing } from '../parts.ts';
import { Time } from '../time.ts';

const EVERY_MS = 5_000;

export const titleOf = ({ kind, stream, version }: OperatorCommand): string => {
  switch (kind) {
    case 'retry':
      return `Retry ${stream}`;
    case 'release':
      return `Skip version ${version} of ${stream}`;
    case 'verify':
      return 'Verify everything';
  }
};

/** A completed verification may have found differences. */
export const OrderState = ({ order: { state, report } }: { readonly order: OperatorCommand }) => {
  if (report?.outcome === 'different') return html`<${Badge} tone="bad">differences<//>`;
  const tone = { waiting: 'plain', running: 'warn', done: 'good', failed: 'bad' }[state];
  return html`<${Badge} tone=${tone}>${state}<//>`;
};

/** The commands of operators. */
export const Orders = () => {
  const pages = usePages<OperatorCommand>('/operations/orders', EVERY_MS);
  return html`
    <${Heading} title="Orders" />
    <${Listing}
      pages=${pages}
      caption="Orders, the latest first"
      keyOf=${({ id }: OperatorCommand) => id}
      empty=${html`<p>No operator commands yet. Retries, skipped events and verifications are listed here, with their results.</p>`}
      columns=${[
        {
          label: 'Order',
          cell: (order: OperatorCommand) =>
            html`<a href=${`/console/orders/${order.id}`}>${titleOf(order)}</a>`,
        },
        { label: 'State', cell: (order: OperatorCommand) => html`<${OrderState} order=${order} />` },
        {
          label: 'Outcome',
          cell: ({ outcome }: OperatorCommand) => outcome ?? html`<span class="soft">–</span>`,
        },
        { label: 'By', cell: ({ by }: OperatorCommand) => html`<${Actor} actor=${by} />` },
        {
          label: 'Asked for',
          cell: ({ requestedAt }: OperatorCommand) => html`<${Time} at=${requestedAt} clock />`,
        },
      ]}
    />`;
};

export const Item = ({ order: { stream } }: { readonly order: OperatorCommand }) =>
  stream === undefined ? null : html`<${Subject} subject=${stream} />`;
