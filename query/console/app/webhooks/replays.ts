import type { Replay } from '#shared/rest/deliveries.ts';
import { usePages } from '../asking.ts';
import { countText } from '../format.ts';
import { html } from '../html.ts';
import { Badge, Listing } from '../parts.ts';
import { Time } from '../time.ts';

const EVERY_MS = 5_000;

export const Replays = ({ webhookPath }: { readonly webhookPath: string }) => {
  const pages = usePages<Replay>(`${webhookPath}/replays`, EVERY_MS);
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
