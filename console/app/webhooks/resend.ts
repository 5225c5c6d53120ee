import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import type { FailedDeliveries, FoundDelivery } from '#shared/rest/deliveries.ts';
import { useApi, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { Time } from '../base/time.ts';
import { useChanged } from '../feed/fresh.ts';
import { shortUrl } from './home.ts';
import { wordOf } from './state.ts';

type ResendOptions = {
  /** The filters of the list. */
  readonly query: URLSearchParams;
  readonly found: readonly FoundDelivery[];
  readonly hasMore: boolean;
  /** The counts are asked again when it has changed. */
  readonly sign: unknown;
  readonly done: () => void;
};

/**
 * Sends failed deliveries again: all at once if filtered by endpoint and time only, otherwise those shown,
 * one by one.
 */
export const Resend = (options: ResendOptions) => {
  const { query } = options;
  const isOfAll = ['type', 'subject', 'eventId'].every((name) => !query.has(name));
  const state = query.get('state');
  if (!isOfAll || state === 'dead') return html`<${ResendFound} ...${options} />`;
  return state === 'delivered' || state === 'withheld' ? null : html`<${ResendFailed} ...${options} />`;
};

type Outcome = { readonly sent: number; readonly problem?: ProblemFacts | undefined };

const Done = ({ outcome: { sent, problem } }: { readonly outcome: Outcome }) => html`
  ${sent > 0 && html`<p class="finding good" role="status">${plural(sent, 'delivery is', 'deliveries are')} due again.</p>`}
  ${problem && html`<${Problem} problem=${problem} />`}`;

/** Acts on each item; a failure does not stop the others. */
const withEach = async <Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<number>,
): Promise<Outcome> => {
  let [sent, problem]: [number, ProblemFacts | undefined] = [0, undefined];
  for (const item of items) {
    try {
      sent += await act(item);
    } catch (error) {
      problem = factsOf(error);
    }
  }
  return { sent, problem };
};

const ResendFailed = ({ query, sign, done }: ResendOptions) => {
  const api = useApi();
  const [outcome, setOutcome] = useState<Outcome>();
  const which = new URLSearchParams(
    [...query].filter(([name]) => ['webhookId', 'since', 'until'].includes(name)),
  );
  which.set('limit', '100');
  const counts = usePages<FailedDeliveries>(`/deliveries/failed?${which}`);
  useChanged(sign, counts.refresh);
  const failed = counts.body ?? [];
  const many = failed.reduce((sum, { dead, retrying }) => sum + dead + retrying, 0);
  const [since, until] = [query.get('since'), query.get('until')];
  const redrive = async () => {
    const body = { retrying: true, ...(since && { since }), ...(until && { until }) };
    const result = await withEach(failed, async ({ webhookId, dead, retrying }) => {
      await api.send('POST', `/webhooks/${webhookId}/redrive`, { body });
      return dead + retrying;
    });
    setOutcome(result);
    counts.reload();
    done();
  };
  if (many === 0) return outcome ? html`<${Done} outcome=${outcome} />` : null;
  return html`${outcome && html`<${Done} outcome=${outcome} />`}
    <div class="tools resend">
      <${Confirm} label=${`Send all ${failedText(many)} again`} kind="primary" title=${`Send ${failedText(many)} again?`} doing=${`Send ${many} again`} act=${redrive}>
        <p>They are sent at once, each with all the attempts of a new delivery. Receivers recognize them by their webhook-id.</p>
        <p>${since || until ? html`Planned ${since && html`since <${Time} at=${since} />`}${until && html` before <${Time} at=${until} />`}.` : 'Of all time.'}</p>
        <ul class="named">${failed.map(({ url, dead, retrying }) => html`<li>${shortUrl(url)}: ${dead} dead, ${retrying} waiting for a retry</li>`)}</ul>
        ${counts.more && html`<p>More endpoints have failed deliveries. These are the first ${failed.length}: repeat this for the others.</p>`}
      <//>
    </div>`;
};

const failedText = (many: number): string => plural(many, 'failed delivery', 'failed deliveries');

const ResendFound = ({ found, hasMore, done }: ResendOptions) => {
  const api = useApi();
  const [outcome, setOutcome] = useState<Outcome>();
  const failed = found.filter((delivery) => wordOf(delivery)[1] === 'bad');
  const redeliver = async () => {
    const result = await withEach(failed, async ({ webhookId, id }) => {
      await api.send('POST', `/webhooks/${webhookId}/deliveries/${id}/redeliver`);
      return 1;
    });
    setOutcome(result);
    done();
  };
  if (failed.length === 0) return outcome ? html`<${Done} outcome=${outcome} />` : null;
  return html`${outcome && html`<${Done} outcome=${outcome} />`}
    <div class="tools resend">
      <${Confirm} label=${`Send the ${failedText(failed.length)} shown again`} title=${`Send ${failedText(failed.length)} again?`} doing=${`Send ${failed.length} again`} act=${redeliver}>
        <p>The failed deliveries of this list are sent at once, each with all the attempts of a new delivery.</p>
        ${hasMore && html`<p>There are more than the list shows: press “Show more” first, or repeat this.</p>`}
      <//>
    </div>`;
};
