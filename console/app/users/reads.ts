import { useState } from 'preact/hooks';
import type { ReadingOfUser } from '#kernel/base/rest/readers.ts';
import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Whole } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import { useDomain } from '../data/domain.ts';
import { Subject } from '../data/names.ts';
import { wordText } from '../data/value.ts';
import { useHasAuditors } from './invitations.ts';

const SHOWN = 20;
/** An answer may have shown a whole page of items. */
const ITEMS_MAX = 5;

/** The logged reads of a user. They are read when they are opened, because that is recorded too. */
export const Reads = ({ id }: { readonly id: string }) => {
  const [isOpen, setOpen] = useState(false);
  const isLogged = useDomain().kinds.some(({ isReadLogged }) => isReadLogged);
  const hasAuditors = useHasAuditors();
  if (!isLogged && !hasAuditors) return null;
  return html`<section aria-labelledby="reads">
    <h2 id="reads">Reads</h2>
    <details onToggle=${(event: { readonly currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open)}>
      <summary>What they have read</summary>
      ${isOpen && html`<${Latest} id=${id} />`}
    </details>
  </section>`;
};

const Latest = ({ id }: { readonly id: string }) => {
  const pages = usePages<ReadingOfUser>(`/users/${id}/reads?limit=${SHOWN}`);
  return html`<${Whole} asked=${pages} show=${(readings: readonly ReadingOfUser[]) => html`
    ${readings.length === 0 && html`<p class="soft">There are no logged reads of this user.</p>`}
    <ol class="latest">${readings.map((reading) => html`<li key=${reading.number}><${Shown} reading=${reading} /></li>`)}</ol>
    ${pages.more && html`<p><button type="button" onClick=${pages.more}>Show more</button></p>`}`} />`;
};

const Shown = ({
  reading: { kind, items, fields, at, via, operation },
}: {
  readonly reading: ReadingOfUser;
}) => {
  const more = items.length - ITEMS_MAX;
  return html`${
    items.length === 0
      ? html`<strong>${wordText(kind)}</strong>`
      : items
          .slice(0, ITEMS_MAX)
          .map(
            (item, place) =>
              html`${place > 0 && ', '}<${Subject} key=${item} subject=${`${kind}-${item}`} />`,
          )
  }${more > 0 && html`, and ${more} more`}
    <br /><span class="soft"><${Time} at=${at} clock short />, ${via} ${operation}${fields.length > 0 && html`: ${fields.join(', ')}`}</span>`;
};
