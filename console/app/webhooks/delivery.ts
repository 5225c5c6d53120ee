import { plural } from '#shared/format.ts';
import type { Attempt, DeliveryBody } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { Event } from '#shared/rest/events.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useApi, useAsked, usePages } from '../base/asking.ts';
import { Copy } from '../base/copy.ts';
import { html } from '../base/html.ts';
import { Act, Badge, Heading, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { Subject } from '../data/names.ts';
import { useChanged, useFresh } from '../feed/fresh.ts';
import { isSuccess, remedyOf } from './condition.ts';
import { home, shortUrl } from './home.ts';
import { wordOf } from './state.ts';

/** One delivery: its result, its payload, and each attempt. */
export const DeliveryPage = ({ route: { parameters } }: { readonly route: Route }) => {
  const api = useApi();
  const path = `/webhooks/${parameters.id}/deliveries/${parameters.delivery}`;
  const asked = useAsked<Delivery>(path);
  const attempts = usePages<Attempt>(`${path}/attempts`);
  const { body: webhook, reload: askWebhook } = useAsked<Webhook>(`/webhooks/${parameters.id}`);
  const refresh = (event?: Event) => {
    asked.reload();
    if (event !== undefined) askWebhook();
  };
  const turn = useFresh(refresh, {
    query: `subject=webhook-${parameters.id}`,
    sign: asked.body,
    dueAt: asked.body?.nextAt,
  });
  useChanged(asked.body && [asked.body, turn], attempts.refresh);
  const redeliver = async () => {
    await api.send('POST', `${path}/redeliver`);
    asked.reload();
    attempts.reload();
  };
  return html`
    <p class="back"><a href=${`${home()}/${parameters.id}`}>${webhook ? shortUrl(webhook.url) : `Webhook ${parameters.id}`}</a></p>
    <${Heading} title=${asked.body ? `Delivery of ${asked.body.type}` : 'Delivery'}>
      ${asked.body?._links.redeliver && html`<${Act} kind="primary" act=${redeliver}>Send again<//>`}
    <//>
    <${Whole} asked=${asked} show=${(delivery: Delivery) => html`<${Outcome} delivery=${delivery} webhook=${webhook} /><${Facts} delivery=${delivery} />`} />
    <${Body} path=${path} />
    <section>
      <h2>Attempts</h2>
      <${Whole}
        asked=${attempts}
        show=${(all: readonly Attempt[]) =>
          all.length === 0
            ? html`<div class="empty"><p>There were no attempts yet. Each attempt appears here, with its request and response.</p></div>`
            : html`<ol class="feed">${all.map((attempt, index) => html`<${AttemptOf} key=${attempt.number} attempt=${attempt} url=${webhook?.url} isOpen=${index === 0} />`)}</ol>`}
      />
    </section>`;
};

type OutcomeOptions = { readonly delivery: Delivery; readonly webhook: Webhook | undefined };

/** The result in a sentence, with advice. */
const Outcome = ({ delivery, webhook }: OutcomeOptions) => {
  const { state, attempts, lastStatus, lastError, nextAt, deliveredAt } = delivery;
  const [word, tone] = wordOf(delivery);
  const reason = lastError ?? (lastStatus === null ? '' : `The receiver answered with status ${lastStatus}.`);
  const tried = plural(attempts, 'attempt');
  return html`<div class=${`finding ${tone}`} role="status">
    <p><${Badge} tone=${tone}>${word}<//> ${
      {
        delivered: html`It was delivered on <${Time} at=${deliveredAt} /> after ${tried}.`,
        due: attempts === 0 ? 'There were no attempts yet.' : html`${reason} ${tried} failed so far.`,
        dead: html`${reason} All ${tried} failed. It is not retried any more.`,
        withheld: 'The owner of the endpoint may no longer read this event, so it is not sent.',
      }[state]
    }</p>
    ${tone === 'bad' && html`<p>${remedyOf(lastStatus)}</p>`}
    ${nextAt && webhook?.enabled !== false && html`<p>Next attempt: <${Time} at=${nextAt} />.</p>`}
    ${webhook?.enabled === false && html`<p>The endpoint is disabled: nothing is sent until it is enabled.</p>`}
  </div>`;
};

const Facts = ({
  delivery: { id, type, subject, cursor, createdAt },
}: {
  readonly delivery: Delivery;
}) => html`
  <dl class="facts">
    <div><dt>Event</dt><dd><code>${type}</code></dd></div>
    <div><dt>Item</dt><dd><${Subject} subject=${subject} /> (<a href=${`${home()}/deliveries?subject=${subject}`}>all its deliveries</a>)</dd></div>
    <div><dt>webhook-id</dt><dd><code>${id}</code> (<a href=${`${home()}/deliveries?eventId=${id}`}>deliveries to other endpoints</a>)</dd></div>
    <div><dt>Cursor</dt><dd><code>${cursor}</code></dd></div>
    <div><dt>Planned</dt><dd><${Time} at=${createdAt} /></dd></div>
  </dl>`;

const Body = ({ path }: { readonly path: string }) => {
  const { body: asked } = useAsked<DeliveryBody>(`${path}/body`);
  if (asked === undefined) return null;
  const { body, reason } = asked;
  return html`<section>
    <div class="heading"><h2>Body</h2>${body && html`<div class="tools"><${Copy} text=${body} label="Copy as sent" /></div>`}</div>
    ${body === null ? html`<p>${reason}</p>` : html`<pre tabindex="0"><code>${JSON.stringify(JSON.parse(body), null, 2)}</code></pre>`}
  </section>`;
};

type AttemptOptions = {
  readonly attempt: Attempt;
  readonly url: string | undefined;
  readonly isOpen: boolean;
};

const AttemptOf = ({
  attempt: { number, at, durationMs, status, error, requestHeaders, answer },
  url,
  isOpen,
}: AttemptOptions) => html`<li>
  <details open=${isOpen}>
    <summary>
      <span class="when"><${Time} at=${at} clock /></span>
      <strong class="type">Attempt ${number}</strong>
      <span class="what"><${Badge} tone=${isSuccess({ status, error }) ? 'good' : 'bad'}>${status ?? 'no response'}<//> ${error ?? ''}</span>
      <span class="by">${Math.round(durationMs)} ms</span>
    </summary>
    <h3>Request</h3>
    <pre tabindex="0"><code>${`POST ${url ?? ''}\n`}${headersText(requestHeaders)}</code></pre>
    <h3>Response</h3>
    ${answer === null ? html`<p>${error ?? 'The receiver did not respond.'}</p>` : html`<pre tabindex="0"><code>${`${status}\n`}${headersText(answer.headers)}${'\n\n'}${answer.text ?? answer.base64 ?? ''}${answer.truncated ? '…' : ''}</code></pre>`}
  </details>
</li>`;

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
