import { countText, plural } from '#shared/format.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Table, Whole } from '../base/parts.ts';
import { put, type Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { useMe } from '../data/domain.ts';
import { Subject } from '../data/names.ts';
import { useFresh } from '../feed/fresh.ts';
import { type Condition, conditionOf } from './condition.ts';
import { home, shortUrl } from './home.ts';
import { nextOf } from './next.ts';

const SHOWN = { all: 'All', attention: 'Needs attention', enabled: 'Enabled', disabled: 'Disabled' } as const;
type Shown = keyof typeof SHOWN;

type Seen = { readonly webhook: Webhook; readonly condition: Condition };

const isShown = ({ webhook: { enabled }, condition: { tone } }: Seen, shown: Shown): boolean => {
  if (shown === 'attention') return tone === 'bad' || tone === 'warn';
  return shown === 'all' || enabled === (shown === 'enabled');
};

/** All endpoints, failing ones first. */
export const Webhooks = ({ route: { search } }: { readonly route: Route }) => {
  const pages = usePages<Webhook>('/webhooks?limit=100');
  useFresh(pages.refresh, {
    query: 'types=*',
    sign: pages.body,
    dueAt: nextOf((pages.body ?? []).map(({ enabled, health }) => enabled && health?.nextAttemptAt)),
  });
  const shown = (Object.keys(SHOWN) as Shown[]).find((each) => each === search.get('show')) ?? 'all';
  return html`
    <${Heading} title="Webhooks">
      <a class="button" href=${`${home()}/deliveries`}>Find deliveries</a>
      <a class="button primary" href=${`${home()}/new`}>New endpoint</a>
    <//>
    <${Whole} asked=${pages} show=${(webhooks: readonly Webhook[]) => html`<${All} webhooks=${webhooks} shown=${shown} />`} />
    ${pages.more && html`<p><button type="button" onClick=${pages.more}>Show more</button></p>`}`;
};

const RANK = { bad: 0, warn: 1, plain: 2, good: 3 } as const;

const All = ({ webhooks, shown }: { readonly webhooks: readonly Webhook[]; readonly shown: Shown }) => {
  const nowMs = Date.now();
  const all = webhooks
    .map((webhook) => ({ webhook, condition: conditionOf(webhook, nowMs) }))
    .toSorted((one, other) => RANK[one.condition.tone] - RANK[other.condition.tone]);
  if (all.length === 0) return html`<${None} />`;
  const seen = all.filter((each) => isShown(each, shown));
  const show = (each: Shown) => put(each === 'all' ? home() : `${home()}?show=${each}`);
  return html`
    <${Summary} all=${all} />
    <div class="bar" role="group" aria-label="Filter the endpoints">
      ${(Object.keys(SHOWN) as Shown[]).map((each) => html`<button type="button" aria-pressed=${each === shown} onClick=${() => show(each)}>${SHOWN[each]} (${all.filter((one) => isShown(one, each)).length})</button>`)}
    </div>
    ${seen.length === 0 ? html`<div class="empty"><p>No endpoints match.</p></div>` : html`<${Endpoints} seen=${seen} />`}`;
};

const None = () => html`<div class="empty">
  <p><strong>There are no endpoints yet.</strong> An endpoint is an address that events are sent to, as signed POST requests.</p>
  <p><a class="button primary" href=${`${home()}/new`}>Register the first endpoint</a></p>
</div>`;

/** The worst endpoints first, or that none fails. */
const Summary = ({ all }: { readonly all: readonly Seen[] }) => {
  const bad = all.filter(({ condition: { tone } }) => tone === 'bad');
  if (bad.length === 0) return html`<p class="finding good" role="status">No endpoints are failing.</p>`;
  return html`<div role="status">${bad
    .slice(0, 3)
    .map(
      ({ webhook: { id, url }, condition: { word, says, advice } }) =>
        html`<p class="finding bad"><strong>${shortUrl(url)}</strong> is ${word}. ${says} ${advice} <a href=${`${home()}/${id}`}>Open it</a></p>`,
    )}${bad.length > 3 && html`<p class="finding bad">${plural(bad.length - 3, 'more endpoint fails', 'more endpoints fail')}.</p>`}</div>`;
};

const Endpoints = ({ seen }: { readonly seen: readonly Seen[] }) => {
  const isAdmin = useMe()?.role === 'admin';
  return html`<${Table}
    caption="Webhook endpoints, those that fail first"
    items=${seen}
    keyOf=${({ webhook: { id } }: Seen) => String(id)}
    columns=${[
      {
        label: 'Endpoint',
        cell: ({ webhook: { id, url, description } }: Seen) =>
          html`<a class="long" href=${`${home()}/${id}`}>${url}</a>${description && html`<br /><span class="soft">${description}</span>`}`,
      },
      {
        label: 'Health',
        cell: ({ condition: { tone, word }, webhook: { health } }: Seen) =>
          html`<${Badge} tone=${tone}>${word}<//>${tone === 'bad' && health?.lastFailure && html`<br /><span class="soft">${health.lastFailure.reason}</span>`}`,
      },
      { label: 'Last 24 h', numeric: true, cell: ({ webhook }: Seen) => rateOf(webhook) },
      {
        label: 'Waiting',
        numeric: true,
        cell: ({ webhook: { health } }: Seen) => countText(health?.backlog.due ?? 0),
      },
      {
        label: 'Dead',
        numeric: true,
        cell: ({ webhook: { health } }: Seen) => countText(health?.backlog.dead ?? 0),
      },
      {
        label: 'Next attempt',
        cell: ({ webhook: { health } }: Seen) => html`<${Time} at=${health?.nextAttemptAt ?? null} clock />`,
      },
      ...(isAdmin
        ? [
            {
              label: 'Owner',
              cell: ({ webhook: { ownerId } }: Seen) => html`<${Subject} subject=${`user-${ownerId}`} />`,
            },
          ]
        : []),
    ]}
  />`;
};

const PERCENT = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

export const rateOf = ({ health }: Webhook): string =>
  health === undefined || health.successRate === null
    ? 'no attempts'
    : `${PERCENT.format(health.successRate)} of ${countText(health.attemptsLastDay)}`;
