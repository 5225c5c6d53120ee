import type { Replay } from '#shared/rest/deliveries.ts';
import type { Webhook, WebhookHealth } from '#shared/rest/webhook.ts';
import { useApi, useAsked, usePages } from '../asking.ts';
import { Confirm } from '../confirm.ts';
import { countText } from '../format.ts';
import { html } from '../html.ts';
import { Subject } from '../names.ts';
import { Act, Badge, Heading, Listing, Whole } from '../parts.ts';
import { go, type Place } from '../router.ts';
import { Time } from '../time.ts';
import { Deliveries } from './deliveries.ts';
import { WebhookState } from './webhooks.ts';

const EVERY_MS = 10_000;

/** One endpoint: what it is told of, and what became of that. */
export const WebhookPage = ({ place: { parameters, search } }: { readonly place: Place }) => {
  const path = `/webhooks/${parameters.id}`;
  const asked = useAsked<Webhook>(path, EVERY_MS);
  return html`
    <p class="back"><a href="/console/webhooks">All webhooks</a></p>
    <${Heading} title=${`Webhook ${parameters.id}`} />
    <${Whole} asked=${asked} show=${(webhook: Webhook) => html`<${Facts} webhook=${webhook} /><${Ways} webhook=${webhook} reload=${asked.reload} />`} />
    <${Deliveries} webhookPath=${path} search=${search} />
    <${Replays} webhookPath=${path} />`;
};

const Facts = ({ webhook }: { readonly webhook: Webhook }) => {
  const {
    url,
    description,
    eventTypes,
    ownerId,
    payload,
    ordered,
    limits,
    filter,
    missedSince,
    createdAt,
    id,
    health,
    withheld = [],
  } = webhook;
  const filters = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
  return html`<dl class="facts">
    <div><dt>Address</dt><dd><code>${url}</code></dd></div>
    <div><dt>State</dt><dd><${WebhookState} webhook=${webhook} /></dd></div>
    ${description && html`<div><dt>Description</dt><dd>${description}</dd></div>`}
    <div><dt>Is told of</dt><dd><code>${eventTypes.join(', ')}</code>${filters.length > 0 && `, only of ${filters.join(', ')}`}</dd></div>
    ${
      withheld.length > 0 &&
      html`<div><dt>Is not told of</dt><dd><ul>${withheld.map(({ eventType, reason }) => html`<li><code>${eventType}</code>: ${reason}</li>`)}</ul></dd></div>`
    }
    <div><dt>Payload</dt><dd>${payload}${ordered && ', in order'}; at most ${limits.ratePerSecond}/s, ${limits.concurrency} at once</dd></div>
    <div><dt>Owner</dt><dd><${Subject} subject=${`user-${ownerId}`} /></dd></div>
    <div><dt>Made</dt><dd><${Time} at=${createdAt} /> (<a href=${`/console/items/webhooks/${id}`}>history</a>)</dd></div>
    ${missedSince && html`<div><dt>Missed since</dt><dd><code>${missedSince}</code>: replay it to make up for that</dd></div>`}
    ${health && html`<${Health} health=${health} />`}
  </dl>`;
};

const Health = ({ health }: { readonly health: WebhookHealth }) => {
  const { lastSuccessAt, lastFailure, failingSince, failuresInRow, pausedUntil, backlog } = health;
  const { due, oldestAt, dead } = backlog;
  return html`
    <div><dt>Last success</dt><dd>${lastSuccessAt ? html`<${Time} at=${lastSuccessAt} />` : 'none yet'}</dd></div>
    ${lastFailure && html`<div><dt>Last failure</dt><dd><${Time} at=${lastFailure.at} />: ${lastFailure.reason}</dd></div>`}
    ${failingSince && html`<div><dt>Failing since</dt><dd><${Time} at=${failingSince} />, ${failuresInRow} attempts in a row</dd></div>`}
    ${pausedUntil && html`<div><dt>Paused until</dt><dd><${Time} at=${pausedUntil} /></dd></div>`}
    <div><dt>Backlog</dt><dd>${due} due${oldestAt && html`, the oldest since <${Time} at=${oldestAt} />`}; ${dead} dead</dd></div>`;
};

const Ways = ({ webhook: { id, enabled, missedSince }, reload }: { readonly webhook: Webhook; readonly reload: () => void }) => {
  const api = useApi();
  const path = `/webhooks/${id}`;
  const send = async (way: string) => {
    await api.post(`${path}/${way}`);
    reload();
  };
  const test = async () => {
    const { location } = await api.post(`${path}/test`);
    go(`/console${location?.replace(/^\/api/, '') ?? path}`);
  };
  return html`<div class="tools ways">
    ${enabled && html`<${Act} act=${test}>Send a test<//>`}
    ${enabled && html`<${ReplayButton} path=${path} isMissing=${missedSince !== undefined} done=${reload} />`}
    ${
      enabled &&
      html`<${Confirm} label="Redrive dead deliveries" title="Send all dead deliveries again?" doing="Send them again" act=${() => send('redrive')}>
        <p>All deliveries that were given up become due, each with as many attempts as a new one.</p>
      <//>`
    }
    ${
      enabled
        ? html`<${Confirm} label="Disable" kind="danger" title="Send nothing more to this address?" doing="Disable it" act=${() => send('disable')}>
            <p>What happens from now on is not sent there, until the endpoint is enabled and replayed.</p>
          <//>`
        : html`<${Act} kind="primary" act=${() => send('enable')}>Enable<//>`
    }
  </div>`;
};

type ReplayOptions = { readonly path: string; readonly isMissing: boolean; readonly done: () => void };

const ReplayButton = ({ path, isMissing, done }: ReplayOptions) => {
  const api = useApi();
  const replay = async () => {
    const from = document.querySelector<HTMLInputElement>('#replay-from')?.value.trim() ?? '';
    await api.post(`${path}/replay`, from === '' ? {} : { from: momentOf(from) });
    done();
  };
  return html`<${Confirm} label="Replay" title="Send again what has happened?" doing="Replay" act=${replay}>
    <p>Everything since then is sent once more, with the same ids, so that a receiver can tell what it has.</p>
    <label for="replay-from">Since</label>
    <input id="replay-from" type="text" spellcheck="false" autocapitalize="off" required=${!isMissing} placeholder="2026-11-21T15:00:00Z, or a cursor" aria-describedby="replay-hint" />
    <p id="replay-hint" class="soft">A time (RFC 3339) or a cursor.${isMissing && ' Leave it empty for what was missed.'}</p>
  <//>`;
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A day alone begins at midnight, as clocks in UTC show it. */
export const momentOf = (text: string): string => (DATE.test(text) ? `${text}T00:00:00Z` : text);

const REPLAYS_EVERY_MS = 5_000;

const Replays = ({ webhookPath }: { readonly webhookPath: string }) => {
  const pages = usePages<Replay>(`${webhookPath}/replays`, REPLAYS_EVERY_MS);
  return html`<section>
    <h2>Replays</h2>
    <${Listing}
      pages=${pages}
      caption="Replays, the latest first"
      keyOf=${({ id }: Replay) => id}
      empty=${html`<p>Nothing was replayed. A replay sends again what has happened since a time, and stands here with how far it has come.</p>`}
      columns=${[
        {
          label: 'Since',
          cell: ({ since, from }: Replay) =>
            since === null ? html`<code>${from ?? 'the beginning'}</code>` : html`<${Time} at=${since} />`,
        },
        { label: 'State', cell: ({ state }: Replay) => html`<${Badge} tone=${state === 'finished' ? 'good' : 'warn'}>${state}<//>` },
        { label: 'Deliveries', numeric: true, cell: ({ planned }: Replay) => countText(planned) },
        { label: 'Asked for', cell: ({ requestedAt }: Replay) => html`<${Time} at=${requestedAt} />` },
        { label: 'Finished', cell: ({ finishedAt }: Replay) => html`<${Time} at=${finishedAt} />` },
      ]}
    />
  </section>`;
};
