import type { FunctionComponent } from 'preact';
import type { Api } from './api.ts';
import { ApiProvider, useAsked } from './asking.ts';
import { ClientPage, Clients } from './clients/clients.ts';
import { NewClient } from './clients/new-client.ts';
import { Feed } from './feed/feed.ts';
import { html } from './html.ts';
import { ItemPage, Items } from './item/item.ts';
import { OrderPage } from './operations/order.ts';
import { Orders } from './operations/orders.ts';
import { Parked } from './operations/parked.ts';
import { Proof } from './operations/proof.ts';
import { Overview } from './overview/overview.ts';
import { Heading, Problem } from './parts.ts';
import { type Place, usePlace, type View } from './router.ts';
import type { Session } from './session.ts';
import { DeliveryPage } from './webhooks/delivery.ts';
import { WebhookPage } from './webhooks/webhook.ts';
import { Webhooks } from './webhooks/webhooks.ts';

/** The page of each address, and the section that it belongs to. */
const VIEWS: Readonly<Record<View, readonly [page: FunctionComponent<{ readonly place: Place }>, section: string]>> = {
  overview: [Overview, 'overview'],
  feed: [Feed, 'feed'],
  items: [Items, 'items'],
  item: [ItemPage, 'items'],
  webhooks: [Webhooks, 'webhooks'],
  webhook: [WebhookPage, 'webhooks'],
  delivery: [DeliveryPage, 'webhooks'],
  parked: [Parked, 'parked'],
  proof: [Proof, 'proof'],
  orders: [Orders, 'orders'],
  order: [OrderPage, 'orders'],
  clients: [Clients, 'clients'],
  newClient: [NewClient, 'clients'],
  client: [ClientPage, 'clients'],
};

const SECTIONS = [
  ['overview', 'Overview', '/console'],
  ['feed', 'Feed', '/console/feed'],
  ['items', 'Items', '/console/items'],
  ['webhooks', 'Webhooks', '/console/webhooks'],
  ['parked', 'Parked', '/console/parked'],
  ['proof', 'Proof', '/console/proof'],
  ['orders', 'Orders', '/console/orders'],
  ['clients', 'Clients', '/console/clients'],
] as const;

type Me = { readonly id: number; readonly name: string; readonly role?: string };

export const Shell = ({ api, session }: { readonly api: Api; readonly session: Session }) =>
  html`<${ApiProvider} value=${api}><${Frame} session=${session} /><//>`;

/** The way around, and what is at the address. */
const Frame = ({ session }: { readonly session: Session }) => {
  const place = usePlace();
  const { body: me, problem, reload } = useAsked<Me>('/me');
  const [page, section] = place.view === 'unknown' ? [Unknown, ''] : VIEWS[place.view];
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header>
      <p class="brand">Annals <span>Console</span></p>
      <div class="who">
        ${me && html`<span class="name">${me.name}</span>`}
        <button type="button" class="quiet" onClick=${() => session.signOut()}>Sign out</button>
      </div>
    </header>
    ${me?.role === 'admin' && html`<${Sections} section=${section} />`}
    <main id="main" tabindex="-1">
      ${problem && html`<${Problem} problem=${problem} retry=${reload} />`}
      ${me && (me.role === 'admin' ? html`<${page} key=${place.view + Object.values(place.parameters).join('/')} place=${place} />` : html`<${NotForYou} me=${me} />`)}
    </main>`;
};

const Sections = ({ section }: { readonly section: string }) => html`<nav aria-label="Sections"><ul>
  ${SECTIONS.map(([name, label, href]) => html`<li><a href=${href} aria-current=${name === section ? 'page' : null}>${label}</a></li>`)}
</ul></nav>`;

const NotForYou = ({ me }: { readonly me: Me }) => html`
  <${Heading} title="The console is for administrators" />
  <p>You are signed in as <strong>${me.name}</strong>, whose role is <strong>${me.role ?? 'not known'}</strong>.</p>
  <p>Ask an administrator to give you the role <code>admin</code>, then sign out and in again. Or sign out, and in as somebody who has it.</p>
  <p>Whoever runs the installation can do it by hand:</p>
  <pre tabindex="0"><code>${`curl -X PATCH ${location.origin}/users/${me.id} \\
  -H "Authorization: Bearer $(npm run -s token -- --scope write:users)" \\
  -H 'Content-Type: application/json' -d '{"role":"admin"}'`}</code></pre>
`;

const Unknown = () =>
  html`<${Heading} title="There is nothing here" /><p>The address may be misspelt. <a href="/console">Go to the overview.</a></p>`;
