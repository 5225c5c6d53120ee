import { countText } from '#shared/format.ts';
import type { Replay } from '#shared/rest/deliveries.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useAsked, useEvery, usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Listing, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { useDomain } from '../data/domain.ts';
import { Named, Subject } from '../data/names.ts';
import { useChanged, useFresh } from '../feed/fresh.ts';
import { Actions } from './actions.ts';
import { Deliveries } from './deliveries.ts';
import { Chart, Health } from './health.ts';
import { home, shortUrl } from './home.ts';

/** One endpoint: its condition, its actions, and its deliveries. */
export const WebhookPage = ({ route: { parameters, search } }: { readonly route: Route }) => {
  const { id = '' } = parameters;
  const path = `/webhooks/${id}`;
  const asked = useAsked<Webhook>(path);
  const { enabled, health } = asked.body ?? {};
  const turn = useFresh(asked.reload, {
    query: 'types=*',
    sign: asked.body,
    dueAt: enabled ? health?.nextAttemptAt : null,
  });
  // The parts of the page refresh with the webhook, and when its health changes.
  const sign = health && [health, turn];
  return html`
    <p class="back"><a href=${home()}>All webhooks</a></p>
    <${Heading} title=${asked.body ? shortUrl(asked.body.url) : `Webhook ${id}`}>
      ${asked.body && html`<a class="button" href=${`${home()}/${id}/edit`}>Edit</a>`}
    <//>
    ${asked.body?.description && html`<p>${asked.body.description}</p>`}
    <${Whole} asked=${asked} show=${(webhook: Webhook) => html`<${Health} webhook=${webhook} /><${Actions} webhook=${webhook} reload=${asked.reload} />`} />
    <${Chart} webhookId=${id} sign=${sign} />
    <section>
      <h2>Deliveries</h2>
      <${Deliveries} at=${`${home()}/${id}`} search=${search} webhookId=${id} sign=${sign} />
    </section>
    <${Replays} webhookPath=${path} sign=${sign} />
    ${asked.body && html`<${Settings} webhook=${asked.body} />`}`;
};

const Settings = ({ webhook }: { readonly webhook: Webhook }) => {
  const {
    url,
    eventTypes,
    ownerId,
    payload,
    format,
    ordered,
    limits,
    filter,
    headers,
    missedSince,
    secretsEndAt,
    createdAt,
    id,
    withheld = [],
  } = webhook;
  const declared = useDomain().filters;
  const filters = Object.entries(filter).map(([name, value], index) => {
    const { title, of } = declared.find((each) => each.name === name) ?? {};
    return html`${index > 0 && ', '}${title?.toLowerCase() ?? name} ${of === undefined ? value : html`<${Named} of=${of} id=${Number(value)} plain />`}`;
  });
  const names = Object.keys(headers);
  return html`<section>
    <h2>Settings</h2>
    <dl class="facts">
      <div><dt>URL</dt><dd><code>${url}</code></dd></div>
      <div><dt>Event types</dt><dd><code>${eventTypes.join(', ')}</code>${filters.length > 0 && html`, only of ${filters}`}</dd></div>
      ${
        withheld.length > 0 &&
        html`<div><dt>Not sent</dt><dd><ul>${withheld.map(({ eventType, reason }) => html`<li><code>${eventType}</code>: ${reason}</li>`)}</ul></dd></div>`
      }
      <div><dt>Payload</dt><dd>${payload}${format !== 'annals' && `, as ${format}`}${ordered && ', in order'}; at most ${limits.ratePerSecond}/s, ${limits.concurrency} at once</dd></div>
      ${names.length > 0 && html`<div><dt>Headers</dt><dd><code>${names.join(', ')}</code></dd></div>`}
      ${secretsEndAt && html`<div><dt>Former secret</dt><dd>also signs requests until <${Time} at=${secretsEndAt} /></dd></div>`}
      ${missedSince && html`<div><dt>Missed since</dt><dd><code>${missedSince}</code></dd></div>`}
      <div><dt>Owner</dt><dd><${Subject} subject=${`user-${ownerId}`} /></dd></div>
      <div><dt>Registered</dt><dd><${Time} at=${createdAt} /> (<a href=${`/console/items/webhooks/${id}`}>history</a>)</dd></div>
    </dl>
  </section>`;
};

const REPLAYS_EVERY_MS = 5_000;

type ReplaysOptions = { readonly webhookPath: string; readonly sign: unknown };

const Replays = ({ webhookPath, sign }: ReplaysOptions) => {
  const pages = usePages<Replay>(`${webhookPath}/replays`);
  const isUnderWay = pages.body?.some(({ state }) => state !== 'finished');
  useChanged(sign, pages.refresh);
  useEvery(isUnderWay ? REPLAYS_EVERY_MS : undefined, pages.reload);
  if (pages.body?.length === 0) return null;
  return html`<section>
    <h2>Replays</h2>
    <${Listing}
      pages=${pages}
      caption="Replays, the latest first"
      keyOf=${({ id }: Replay) => id}
      empty=${null}
      columns=${[
        {
          label: 'Since',
          cell: ({ since, from }: Replay) =>
            since === null ? html`<code>${from ?? 'the beginning'}</code>` : html`<${Time} at=${since} />`,
        },
        {
          label: 'State',
          cell: ({ state }: Replay) =>
            html`<${Badge} tone=${state === 'finished' ? 'good' : 'warn'}>${state}<//>`,
        },
        { label: 'Deliveries', numeric: true, cell: ({ planned }: Replay) => countText(planned) },
        { label: 'Requested', cell: ({ requestedAt }: Replay) => html`<${Time} at=${requestedAt} />` },
        { label: 'Finished', cell: ({ finishedAt }: Replay) => html`<${Time} at=${finishedAt} />` },
      ]}
    />
  </section>`;
};
