import { useState } from 'preact/hooks';
import type { Reading } from '#kernel/base/rest/readers.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Whole } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import type { Links } from './links.ts';
import { ActorName } from './names.ts';

const SHOWN = 20;

/** The readers of an item whose reads are logged. They are read when they are opened, because that is recorded too. */
export const Readers = ({ links }: { readonly links: Links }) => {
  const [isOpen, setOpen] = useState(false);
  if (links.readers === undefined) return null;
  return html`<h2>Readers</h2>
    <details onToggle=${(event: { readonly currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open)}>
      <summary>Who has seen this</summary>
      ${isOpen && html`<${Latest} href=${links.readers.href} />`}
    </details>`;
};

const Latest = ({ href }: { readonly href: string }) => {
  const asked = useAsked<readonly Reading[]>(`${href}?limit=${SHOWN}`);
  const show = (readings: readonly Reading[]) =>
    html`<ol class="latest">${readings.map(
      ({ number, actor, at, via, fields }) => html`<li key=${number}><${ActorName} actor=${actor} withFace />
      <br /><span class="soft"><${Time} at=${at} clock short />, ${via}: ${fields.join(', ')}</span></li>`,
    )}</ol>`;
  return html`<${Whole} asked=${asked} show=${show} />`;
};
