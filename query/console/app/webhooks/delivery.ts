import type { Attempt, Delivery } from '#shared/rest/deliveries.ts';
import { useApi, useAsked, usePages } from '../asking.ts';
import { html } from '../html.ts';
import { Subject } from '../names.ts';
import { Act, Badge, Heading, Whole } from '../parts.ts';
import type { Place } from '../router.ts';
import { Time } from '../time.ts';
import { DeliveryState } from './deliveries.ts';

const EVERY_MS = 3_000;

/** One delivery, and each attempt at it. */
export const DeliveryPage = ({ place: { parameters } }: { readonly place: Place }) => {
  const api = useApi();
  const path = `/webhooks/${parameters.id}/deliveries/${parameters.delivery}`;
  const asked = useAsked<Delivery>(path, EVERY_MS);
  const attempts = usePages<Attempt>(`${path}/attempts`, EVERY_MS);
  const redeliver = async () => {
    await api.post(`${path}/redeliver`);
    asked.reload();
    attempts.reload();
  };
  return html`
    <p class="back"><a href=${`/console/webhooks/${parameters.id}`}>Webhook ${parameters.id}</a></p>
    <${Heading} title="Delivery"><${Act} kind="primary" act=${redeliver}>Send again<//><//>
    <${Whole} asked=${asked} show=${(delivery: Delivery) => html`<${Facts} delivery=${delivery} />`} />
    <section>
      <h2>Attempts</h2>
      <${Whole}
        asked=${attempts}
        show=${(all: readonly Attempt[]) =>
          all.length === 0
            ? html`<div class="empty"><p>It was not tried yet. Each attempt stands here, with what was sent and what was answered.</p></div>`
            : html`<ol class="feed">${all.map((attempt) => html`<${AttemptOf} key=${attempt.number} attempt=${attempt} />`)}</ol>`}
      />
    </section>`;
};

const Facts = ({
  delivery: { id, type, subject, cursor, state, attempts, nextAt, lastError, createdAt, deliveredAt },
}: {
  readonly delivery: Delivery;
}) => html`
  <p role="status"><${DeliveryState} state=${state} /> after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${lastError && html`: ${lastError}`}</p>
  <dl class="facts">
    <div><dt>Event</dt><dd><code>${type}</code></dd></div>
    <div><dt>Item</dt><dd><${Subject} subject=${subject} /></dd></div>
    <div><dt>webhook-id</dt><dd><code>${id}</code></dd></div>
    <div><dt>Cursor</dt><dd><code>${cursor}</code></dd></div>
    <div><dt>Planned</dt><dd><${Time} at=${createdAt} /></dd></div>
    <div><dt>Delivered</dt><dd><${Time} at=${deliveredAt} /></dd></div>
    <div><dt>Next attempt</dt><dd><${Time} at=${nextAt} /></dd></div>
  </dl>`;

const AttemptOf = ({
  attempt: { number, at, durationMs, status, error, requestHeaders, answer },
}: {
  readonly attempt: Attempt;
}) => html`<li>
  <details>
    <summary>
      <span class="when"><${Time} at=${at} clock /></span>
      <strong class="type">Attempt ${number}</strong>
      <span class="what"><${Badge} tone=${error === null && hasArrived(status) ? 'good' : 'bad'}>${status ?? 'no answer'}<//> ${error ?? ''}</span>
      <span class="by">${Math.round(durationMs)} ms</span>
    </summary>
    <h3>Sent</h3>
    <pre tabindex="0"><code>${headersText(requestHeaders)}</code></pre>
    <h3>Answered</h3>
    ${answer === null ? html`<p>Nothing came.</p>` : html`<pre tabindex="0"><code>${headersText(answer.headers)}${'\n\n'}${answer.text ?? answer.base64 ?? ''}${answer.truncated ? '…' : ''}</code></pre>`}
  </details>
</li>`;

const hasArrived = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
