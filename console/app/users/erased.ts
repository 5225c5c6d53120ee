import { countText } from '#shared/format.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Table, Whole } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import { ActorName } from '../data/names.ts';

const EVERY_MS = 3_000;
type Part = ErasureReport['parts'][number];

/** The erased data of a user, and residual personal data. */
export const Erased = ({ id }: { readonly id: string }) => {
  const asked = useAsked<ErasureReport>(`/users/${id}/erasure`, EVERY_MS);
  return html`<section aria-labelledby="erasure"><h2 id="erasure">Erasure</h2>
    <${Whole} asked=${asked} show=${(report: ErasureReport) => html`<${Report} report=${report} />`} /></section>`;
};

const Report = ({
  report: { isDone, asked, keyDestroyedAt, parts, kept, sealed },
}: {
  readonly report: ErasureReport;
}) => html`
  <p>${isDone ? html`<${Badge} tone="good">erased<//> No residual personal data was found.` : html`<${Badge} tone="warn">in progress<//> The rest is erased within moments.`}</p>
  <dl class="facts">
    <div><dt>Deleted</dt><dd>${asked === null ? 'not in the log yet' : html`<${Time} at=${asked.at} short />, by <${ActorName} actor=${asked.actor} />`}</dd></div>
    <div><dt>Key destroyed</dt><dd>${keyDestroyedAt === null ? 'not yet' : html`<${Time} at=${keyDestroyedAt} short />`}</dd></div>
    <div><dt>Events that nobody can decrypt</dt><dd>${countText(sealed.reduce((sum, { events }) => sum + events, 0))}</dd></div>
    ${Object.entries(kept).map(([name, count]) => html`<div><dt>Stays without personal data: ${name}</dt><dd>${countText(count)}</dd></div>`)}
  </dl>
  <${Table}
    caption="Places that may have personal data of the user"
    items=${parts}
    keyOf=${({ part }: Part) => part}
    columns=${[
      { label: 'Where', cell: ({ part }: Part) => part },
      { label: 'Left', cell: ({ left }: Part) => (left === 0 ? 'nothing' : countText(left)) },
    ]}
  />`;
