import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DomainFacts } from '../domain-facts.ts';
import { type Action, lettersOf, useActions, useKeyboard } from './actions.ts';
import type { Api } from './api.ts';
import { ApiProvider, useAsked } from './asking.ts';
import { Boundary } from './boundary.ts';
import { ClientPage, Clients } from './clients/clients.ts';
import { NewClient } from './clients/new-client.ts';
import { DataCommand, DataListed } from './data/command.ts';
import { DataAdd, DataNew, DataNewUnder } from './data/create.ts';
import { DomainProvider, type Me, MeProvider, pageOf, useDomain } from './data/domain.ts';
import { DataHome } from './data/home.ts';
import { DataItem } from './data/item.ts';
import { DataList } from './data/list.ts';
import { DataUnder } from './data/under.ts';
import { DataRows, pageOfView, viewsFor } from './data/view.ts';
import { EventPage } from './events/event.ts';
import { Events } from './events/events.ts';
import { Help, Keys } from './help.ts';
import { html } from './html.ts';
import { ItemPage } from './item/item.ts';
import { NotLive } from './live.ts';
import { OrderPage } from './operations/order.ts';
import { Orders } from './operations/orders.ts';
import { Parked } from './operations/parked.ts';
import { Proof } from './operations/proof.ts';
import { Overview } from './overview/overview.ts';
import { Palette } from './palette.ts';
import { Heading, Problem } from './parts.ts';
import { isOfOwners, moved, type View } from './paths.ts';
import { type Place, put, usePlace } from './router.ts';
import type { Session } from './session.ts';
import { UserPage } from './users/user.ts';
import { Users } from './users/users.ts';
import { DeliveriesPage } from './webhooks/deliveries.ts';
import { DeliveryPage } from './webhooks/delivery.ts';
import { EditWebhook, NewWebhook } from './webhooks/endpoint-form.ts';
import { WebhookPage } from './webhooks/webhook.ts';
import { Webhooks } from './webhooks/webhooks.ts';

/** The page of each address, and the section that it belongs to. */
const VIEWS: Readonly<Record<View, readonly [page: FunctionComponent<{ readonly place: Place }>, section: string]>> = {
  overview: [Overview, 'overview'],
  events: [Events, 'events'],
  event: [EventPage, 'events'],
  data: [DataHome, 'data'],
  dataList: [DataList, 'data'],
  dataNew: [DataNew, 'data'],
  dataItem: [DataItem, 'data'],
  dataCommand: [DataCommand, 'data'],
  dataUnder: [DataUnder, 'data'],
  dataNewUnder: [DataNewUnder, 'data'],
  dataAdd: [DataAdd, 'data'],
  dataListed: [DataListed, 'data'],
  dataView: [DataRows, 'data'],
  item: [ItemPage, 'data'],
  webhooks: [Webhooks, 'webhooks'],
  newWebhook: [NewWebhook, 'webhooks'],
  deliveries: [DeliveriesPage, 'webhooks'],
  webhook: [WebhookPage, 'webhooks'],
  editWebhook: [EditWebhook, 'webhooks'],
  delivery: [DeliveryPage, 'webhooks'],
  parked: [Parked, 'parked'],
  proof: [Proof, 'proof'],
  orders: [Orders, 'orders'],
  order: [OrderPage, 'orders'],
  users: [Users, 'users'],
  user: [UserPage, 'users'],
  clients: [Clients, 'clients'],
  newClient: [NewClient, 'clients'],
  client: [ClientPage, 'clients'],
};

type Section = readonly [name: string, label: string, href: string];
const DATA: Section = ['data', 'Data', '/console/data'];
const SECTIONS: readonly Section[] = [
  ['overview', 'Overview', '/console'],
  ['events', 'Events', '/console/events'],
  ['webhooks', 'Webhooks', '/console/webhooks'],
  ['parked', 'Parked', '/console/parked'],
  ['proof', 'Proof', '/console/proof'],
  ['orders', 'Orders', '/console/orders'],
  ['users', 'Accounts', '/console/users'],
  ['clients', 'Clients', '/console/clients'],
];

type ShellOptions = { readonly api: Api; readonly session: Session; readonly domain: DomainFacts };

export const Shell = ({ api, session, domain }: ShellOptions) =>
  html`<${ApiProvider} value=${api}><${DomainProvider} value=${domain}><${Frame} session=${session} /><//><//>`;

/** What everybody finds something in, as far as they may: the rest is how the installation does. */
const FOR_ALL: readonly (string | undefined)[] = ['data', 'events'];

/** The way around, and what is at the address. Everybody works with the data; how the installation does is for administrators. */
const Frame = ({ session }: { readonly session: Session }) => {
  const place = usePlace();
  const { body: me, problem, reload } = useAsked<Me>('/me');
  const isAdmin = me?.role === 'admin';
  const [page, section] = pageAt(place.view, isAdmin);
  const isAccount = isOfOwners(location.pathname);
  const elsewhere = me && section === 'webhooks' && isAdmin === isAccount ? moved(location.pathname) + location.search : undefined;
  useEffect(() => {
    if (elsewhere !== undefined) put(elsewhere);
  }, [elsewhere]);
  const isForMe = isAdmin || FOR_ALL.includes(section) || isAccount;
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header>
      <p class="brand">Annals <span>${isAccount ? 'Account' : 'Console'}</span></p>
      <${NotLive} />
      ${me && html`<${Overlays} />`}
      <div class="who">
        ${me && html`<span class="name">${me.name}</span>`}
        <button type="button" class="quiet" onClick=${() => session.signOut()}>Sign out</button>
      </div>
    </header>
    ${me && !isAccount && html`<${Sections} section=${section === 'data' ? `data/${place.parameters.kind ?? place.parameters.view}` : section} me=${me} />`}
    ${me && isAccount && html`<nav aria-label="Sections"><${OwnSections} section=${section} /></nav>`}
    <main id="main" tabindex="-1">
      ${problem && html`<${Problem} problem=${problem} retry=${reload} />`}
      ${me && elsewhere === undefined && (isForMe ? html`<${MeProvider} value=${me}><${Boundary} key=${place.view + Object.values(place.parameters).join('/')} what="this page"><${page} place=${place} /><//><//>` : html`<${NotForYou} me=${me} />`)}
    </main>`;
};

const pageAt = (view: Place['view'], isAdmin: boolean): (typeof VIEWS)[View] => {
  if (view === 'unknown') return [Unknown, isAdmin ? '' : 'data'];
  return view === 'overview' && !isAdmin ? VIEWS.data : VIEWS[view];
};

/** Help and the palette, above any page. */
const Overlays = () => {
  const [isOpen, setOpen] = useState<'help' | 'palette'>();
  const close = () => setOpen(undefined);
  useKeyboard();
  useActions([
    { says: 'Search', keys: '/', to: () => focusSearch() || setOpen('palette'), isKeyOnly: true },
    { says: 'Go to, or do', keys: 'Control+k', to: () => setOpen('palette'), isKeyOnly: true },
    { says: 'Show the keys', keys: '?', to: () => setOpen('help') },
  ]);
  return html`<div class="overlays">
    <button type="button" class="quiet" onClick=${() => setOpen('palette')} aria-keyshortcuts="Control+K">Go to … <${Keys} keys="Control+k" /></button>
    <button type="button" class="quiet" onClick=${() => setOpen('help')} aria-keyshortcuts="?">Keys</button>
    ${isOpen === 'help' && html`<${Help} close=${close} />`}
    ${isOpen === 'palette' && html`<${Palette} close=${close} />`}
  </div>`;
};

/** Returns whether this page has something to search in. */
const focusSearch = (): boolean => {
  const input = document.querySelector<HTMLInputElement>('main :is(search, [role=search]) input');
  input?.focus();
  return input !== null;
};

type SectionsOptions = { readonly section: string | undefined; readonly me: Me };

const Sections = ({ section, me }: SectionsOptions) => {
  const { kinds, views } = useDomain();
  const isAdmin = me.role === 'admin';
  const data: readonly Section[] = [
    ...kinds.filter(({ list }) => list.path !== undefined).map((kind) => [`data/${kind.path}`, kind.plural, pageOf(kind)] as const),
    ...viewsFor(views, me).map((view) => [`data/${view.path}`, view.title, pageOfView(view)] as const),
  ];
  const installation = isAdmin ? SECTIONS : [];
  const all = [DATA, ...installation, ...data];
  const letters = lettersOf(all.map(([, label]) => label));
  const actions: readonly Action[] = all.map(([, label, to], index) => ({
    says: label,
    keys: letters[index] && `g ${letters[index]}`,
    to,
  }));
  useActions(actions);
  const link = ([name, label, href]: Section) =>
    html`<li><a href=${href} aria-current=${name === section ? 'page' : null}>${label}</a></li>`;
  return html`<nav aria-label="Sections">
    <p><a href=${DATA[2]}>${DATA[1]}</a></p>
    <ul>${data.map(link)}</ul>
    ${!isAdmin && html`<${OwnSections} section=${section} />`}
    ${isAdmin && html`<p>Installation</p><ul>${installation.map(link)}</ul>`}
  </nav>`;
};

const ACCOUNT = new URL('/account', document.body.dataset.issuer ?? location.origin).href;

/** What is somebody's own, whoever they are. */
const OwnSections = ({ section }: { readonly section: string | undefined }) => html`
  <p><a href=${ACCOUNT}>Your account</a></p>
  <ul><li><a href="/account/webhooks" aria-current=${section === 'webhooks' ? 'page' : null}>Webhooks</a></li></ul>`;

const NotForYou = ({ me }: { readonly me: Me }) => html`
  <${Heading} title="This page is for administrators" />
  <p>You are signed in as <strong>${me.name}</strong>, whose role is <strong>${me.role ?? 'not known'}</strong>. What you may read and change is among the <a href="/console/data">data</a>.</p>
  <p>Ask an administrator to give you the role <code>admin</code>, then sign out and in again. Or sign out, and in as somebody who has it.</p>
  <p>Whoever runs the installation can do it by hand:</p>
  <pre tabindex="0"><code>${`curl -X PATCH ${location.origin}/users/${me.id} \\
  -H "Authorization: Bearer $(npm run -s token -- --scope write:users)" \\
  -H 'Content-Type: application/json' -d '{"role":"admin"}'`}</code></pre>
`;

const Unknown = () => html`<${Heading} title="There is nothing here" /><p>Check the address. <a href="/console">Go to the overview</a></p>`;
