import type { Order } from '#shared/rest/operator.ts';
import { useAsked, useEvery } from '../asking.ts';
import { html } from '../html.ts';
import { Actor } from '../names.ts';
import { Heading, Whole } from '../parts.ts';
import type { Place } from '../router.ts';
import { Time } from '../time.ts';
import { Item, OrderState, titleOf } from './orders.ts';
import { Progress, ReportOf } from './progress.ts';

const EVERY_MS = 1_000;

/** One order, asked for every second until it is finished. */
export const OrderPage = ({ place: { parameters } }: { readonly place: Place }) => {
  const path = `/operations/orders/${parameters.id}`;
  const asked = useFinishing(path);
  return html`
    <p class="back"><a href="/console/orders">All orders</a></p>
    <${Heading} title=${asked.body === undefined ? 'Order' : titleOf(asked.body)} />
    <${Whole} asked=${asked} show=${(order: Order) => html`<${Facts} order=${order} />`} />`;
};

/** What is finished does not change any more. */
const useFinishing = (path: string) => {
  const first = useAsked<Order>(path);
  const isOpen = first.body !== undefined && first.body.finishedAt === null;
  useEvery(isOpen ? EVERY_MS : undefined, first.reload);
  return first;
};

const Facts = ({ order }: { readonly order: Order }) => {
  const { outcome, by, requestedAt, startedAt, finishedAt, report, state } = order;
  return html`
    <p role="status"><${OrderState} order=${order} /> ${outcome ?? ''}</p>
    <${Progress} order=${order} />
    <dl class="facts">
      ${order.stream && html`<div><dt>Item</dt><dd><${Item} order=${order} /></dd></div>`}
      <div><dt>Asked for</dt><dd><${Time} at=${requestedAt} /> by <${Actor} actor=${by} /></dd></div>
      <div><dt>Taken up</dt><dd><${Time} at=${startedAt} /></dd></div>
      <div><dt>Finished</dt><dd><${Time} at=${finishedAt} /></dd></div>
    </dl>
    ${report && html`<${ReportOf} report=${report} />`}
    ${state === 'failed' && order.stream && html`<p><a href="/console/parked">Back to what is parked</a></p>`}`;
};
