import { useState } from 'preact/hooks';
import type { KindFacts } from '../../domain-facts.ts';
import { Copy } from '../base/copy.ts';
import { html } from '../base/html.ts';
import { requestsOf } from './item-requests.ts';
import type { Item } from './links.ts';

const LANGUAGES = ['curl', 'TypeScript', 'GraphQL'] as const;

type InterfaceOptions = {
  readonly kind: KindFacts;
  readonly item: Item;
  readonly etag: string | undefined;
};

/** The requests by which programs do what this page does. */
export const ItemInterface = ({ kind, item, etag }: InterfaceOptions) => {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]>('curl');
  const [isOpen, setOpen] = useState(false);
  const requests = isOpen ? requestsOf({ kind, item, etag, origin: location.origin }) : [];
  const spoken = LANGUAGES.filter((each) => each !== 'GraphQL' || kind.graphql !== undefined);
  return html`<details class="interface" onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary>Requests for programs</summary>
    ${
      isOpen &&
      html`<div class="bar" role="group" aria-label="Language">${spoken.map((each) => html`<button key=${each} type="button" aria-pressed=${each === language} onClick=${() => setLanguage(each)}>${each}</button>`)}</div>
      ${requests.map(({ title, [language]: text }) => text !== undefined && html`<section key=${title}><h3>${title}</h3><pre tabindex="0"><code>${text}</code></pre><${Copy} label="Copy" text=${text} /></section>`)}`
    }
  </details>`;
};
