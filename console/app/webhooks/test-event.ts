import { useState } from 'preact/hooks';
import type { Attempt } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Act, Problem } from '../base/parts.ts';
import { isSuccess, remedyOf } from './condition.ts';
import { pageAt } from './home.ts';

const EVERY_MS = 1_000;

/** Sends a test event, and shows its result in the same place. */
export const TestEvent = ({ path, kind = '' }: { readonly path: string; readonly kind?: string }) => {
  const api = useApi();
  const [sent, setSent] = useState<string>();
  const send = async () => {
    setSent(undefined);
    const { location } = await api.send('POST', `${path}/test`);
    setSent(location?.replace(/^\/api/, ''));
  };
  return html`<${Act} act=${send} kind=${kind}>Send a test event<//>
    ${sent && html`<${TestResult} key=${sent} path=${sent} />`}`;
};

const TestResult = ({ path }: { readonly path: string }) => {
  const [isOver, setOver] = useState(false);
  const { body: delivery, problem } = useAsked<Delivery>(path, isOver ? undefined : EVERY_MS);
  const { body: attempts = [] } = useAsked<readonly Attempt[]>(
    `${path}/attempts?limit=1`,
    isOver ? undefined : EVERY_MS,
  );
  const [attempt] = attempts;
  if (attempt !== undefined && !isOver) setOver(true);
  if (problem && !delivery) return html`<${Problem} problem=${problem} />`;
  if (attempt === undefined) return html`<p class="finding" role="status">The test event is on its way …</p>`;
  const { status, error, durationMs, answer } = attempt;
  // The delivery may have been read just before its result.
  const hasArrived = isSuccess(attempt);
  return html`<div class=${`finding ${hasArrived ? 'good' : 'bad'}`} role="status">
    <p><strong>${hasArrived ? 'The test event arrived.' : 'The test event failed.'}</strong> ${status === null ? (error ?? 'The receiver did not respond.') : `The receiver answered with status ${status} after ${durationMs} ms.`}</p>
    ${!hasArrived && html`<p>${remedyOf(status)}</p>`}
    ${answer?.text ? html`<pre tabindex="0"><code>${answer.text}</code></pre>` : null}
    <p><a href=${pageAt(path)}>Show the request and the response</a></p>
  </div>`;
};
