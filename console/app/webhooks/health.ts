import { useMemo, useState } from 'preact/hooks';
import { countText, spanText } from '#shared/format.ts';
import type { WebhookStatistics } from '#shared/rest/deliveries.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import { useChanged } from '../feed/fresh.ts';
import { Plot } from '../overview/plot.ts';
import type { Series } from '../overview/series.ts';
import { conditionOf } from './condition.ts';
import { rateOf } from './webhooks.ts';

const MS_PER_SECOND = 1_000;

/** The condition of an endpoint, its reason, and since when. */
export const Health = ({ webhook }: { readonly webhook: Webhook }) => {
  const { tone, word, says, advice } = conditionOf(webhook, Date.now());
  const { health } = webhook;
  return html`<section aria-label="Health">
    <div class=${`finding ${tone}`} role="status">
      <p><${Badge} tone=${tone}>${word}<//> ${says}</p>
      ${advice && html`<p>${advice}</p>`}
    </div>
    ${health && html`<${Tiles} webhook=${webhook} health=${health} />`}
  </section>`;
};

type TilesOptions = { readonly webhook: Webhook; readonly health: NonNullable<Webhook['health']> };

const Tiles = ({
  webhook,
  health: { backlog, failingSince, pausedUntil, nextAttemptAt, lastSuccessAt },
}: TilesOptions) => {
  const { due, oldestAt, dead } = backlog;
  const oldest = oldestAt && spanText(Math.max(0, (Date.now() - Date.parse(oldestAt)) / MS_PER_SECOND));
  return html`<dl class="tiles">
    <div><dt>Success in 24 h</dt><dd>${rateOf(webhook)}</dd></div>
    ${failingSince && html`<div><dt>Failing since</dt><dd><${Time} at=${failingSince} clock short /></dd></div>`}
    <div><dt>Waiting</dt><dd>${countText(due)}${oldest && html` <small class="soft">oldest ${oldest}</small>`}</dd></div>
    <div><dt>Dead</dt><dd>${countText(dead)}</dd></div>
    <div><dt>Next attempt</dt><dd><${Time} at=${nextAttemptAt} clock short /></dd></div>
    ${pausedUntil && html`<div><dt>Paused until</dt><dd><${Time} at=${pausedUntil} clock short /></dd></div>`}
    <div><dt>Last success</dt><dd>${lastSuccessAt ? html`<${Time} at=${lastSuccessAt} clock short />` : 'none yet'}</dd></div>
  </dl>`;
};

const SPANS = [
  ['24 h', 24],
  ['7 days', 168],
] as const;

type ChartOptions = { readonly webhookId: string; readonly sign: unknown };

/** Successful and failed attempts over time. */
export const Chart = ({ webhookId, sign }: ChartOptions) => {
  const [hours, setHours] = useState<number>(SPANS[0][1]);
  const { body, reload } = useAsked<WebhookStatistics>(`/webhooks/${webhookId}/statistics?hours=${hours}`);
  useChanged(sign, reload);
  const series = useMemo(() => body && seriesOf(body), [body]);
  return html`
    <div class="bar" role="group" aria-label="Span of the chart">
      ${SPANS.map(([label, each]) => html`<button type="button" aria-pressed=${each === hours} onClick=${() => setHours(each)}>${label}</button>`)}
    </div>
    ${series ? html`<${Plot} title=${titleOf(body)} series=${series} text=${countText} isWhole />` : html`<div class="plots waiting one"></div>`}`;
};

const MINUTE_S = 60;
const titleOf = (statistics: WebhookStatistics | undefined): string =>
  `Attempts in each ${spanText(statistics?.seconds ?? MINUTE_S)}`;

const seriesOf = ({ points }: Pick<WebhookStatistics, 'points'>): Series => ({
  times: points.map(({ at }) => Date.parse(at) / MS_PER_SECOND),
  lines: [
    { label: 'Arrived', values: points.map(({ arrived }) => arrived) },
    { label: 'Failed', values: points.map(({ failed }) => failed) },
  ],
});
