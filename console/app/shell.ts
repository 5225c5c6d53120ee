import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import type { DomainFacts } from '../domain-facts.ts';
import type { Api } from './base/api.ts';
import { ApiProvider, useAsked } from './base/asking.ts';
import { Boundary } from './base/boundary.ts';
import { html } from './base/html.ts';
import { Heading, Problem } from './base/parts.ts';
import { isOfOwners, moved, type View } from './base/paths.ts';
import { put, type Route, useRoute } from './base/router.ts';
import type { Session } from './base/session.ts';
import { SignCommand } from './base/sign.ts';
import { SignInAgain } from './base/sign-in-again.ts';
import { ClientPage, Clients } from './clients/clients.ts';
import { NewClient } from './clients/new-client.ts';
import { DataChildren } from './data/children.ts';
import { DataCommand, DataListed } from './data/command.ts';
import { DataAdd, DataNew, DataNewUnder } from './data/create.ts';
import { DomainProvider, type Me, MeProvider, useDomain } from './data/domain.ts';
import { dropDrafts } from './data/drafts.ts';
import { DataHome } from './data/home.ts';
import { DataItem } from './data/item.ts';
import { DataList } from './data/list.ts';
import { DataRows } from './data/view.ts';
import { AddField } from './develop/add-field.ts';
import { NewAggregate } from './develop/new-aggregate.ts';
import { EventPage } from './events/event.ts';
import { Events } from './events/events.ts';
import { NotLive } from './feed/live.ts';
import { ItemPage } from './item/item.ts';
import { OperatorCommandPage } from './operations/operator-command.ts';
import { OperatorCommands } from './operations/operator-commands.ts';
import { Parked } from './operations/parked.ts';
import { Proof } from './operations/proof.ts';
import { Overlays } from './overlays.ts';
import { Overview } from './overview/overview.ts';
import { OwnSections, Sections } from './sections.ts';
import { UserPage } from './users/user.ts';
import { Users } from './users/users.ts';
import { DeliveriesPage } from './webhooks/deliveries.ts';
import { DeliveryPage } from './webhooks/delivery.ts';
import { EditWebhook, NewWebhook } from './webhooks/endpoint-form.ts';
import { WebhookPage } from './webhooks/webhook.ts';
import { Webhooks } from './webhooks/webhooks.ts';

/** The page of each address, and its section of the navigation. */
const VIEWS: Readonly<
  Record<View, readonly [page: FunctionComponent<{ readonly route: Route }>, section: string]>
> = {
  overview: [Overview, 'overview'],
  events: [Events, 'events'],
  event: [EventPage, 'events'],
  data: [DataHome, 'data'],
  dataList: [DataList, 'data'],
  dataNew: [DataNew, 'data'],
  dataItem: [DataItem, 'data'],
  dataCommand: [DataCommand, 'data'],
  dataUnder: [DataChildren, 'data'],
  dataNewUnder: [DataNewUnder, 'data'],
  dataAdd: [DataAdd, 'data'],
  dataAddBy: [DataAdd, 'data'],
  dataListed: [DataListed, 'data'],
  dataListedBy: [DataListed, 'data'],
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
  operatorCommands: [OperatorCommands, 'operator-commands'],
  operatorCommand: [OperatorCommandPage, 'operator-commands'],
  users: [Users, 'users'],
  user: [UserPage, 'users'],
  clients: [Clients, 'clients'],
  newClient: [NewClient, 'clients'],
  client: [ClientPage, 'clients'],
  newAggregate: [NewAggregate, 'new-aggregate'],
  addField: [AddField, 'add-field'],
};

type ShellOptions = { readonly api: Api; readonly session: Session; readonly domain: DomainFacts };

export const Shell = ({ api, session, domain }: ShellOptions) =>
  html`<${ApiProvider} value=${api}><${DomainProvider} value=${domain}><${Frame} session=${session} /><//><//>`;

/** Sections for all users; the others are about the installation. */
const FOR_ALL: readonly (string | undefined)[] = ['data', 'events'];

/**
 * The navigation and the current page. All users work with the data; the installation is for administrators.
 */
const Frame = ({ session }: { readonly session: Session }) => {
  const route = useRoute();
  const { body: me, problem, reload } = useAsked<Me>('/me');
  const isAdmin = me?.role === 'admin';
  const { hasWebhooks, isDeveloped } = useDomain();
  const [page, section] = pageAt(route.view, { isAdmin, hasWebhooks, isDeveloped });
  const isAccount = isOfOwners(location.pathname);
  const elsewhere =
    me && section === 'webhooks' && isAdmin === isAccount
      ? moved(location.pathname) + location.search
      : undefined;
  useEffect(() => {
    if (elsewhere !== undefined) put(elsewhere);
  }, [elsewhere]);
  // Before a form of this user reads its draft.
  if (me !== undefined) dropDrafts(String(me.id));
  const isForMe = isAdmin || FOR_ALL.includes(section) || isAccount;
  return html`
    <${SignInAgain} />
    <${SignCommand} />
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
    ${me && !isAccount && html`<${Sections} section=${section === 'data' ? `data/${route.parameters.kind ?? route.parameters.view}` : section} me=${me} />`}
    ${me && isAccount && html`<nav aria-label="Sections"><${OwnSections} section=${section} /></nav>`}
    <main id="main" tabindex="-1">
      ${problem && html`<${Problem} problem=${problem} retry=${reload} />`}
      ${me && elsewhere === undefined && (isForMe ? html`<${MeProvider} value=${me}><${Boundary} key=${route.view + Object.values(route.parameters).join('/')} what="this page"><${page} route=${route} /><//><//>` : html`<${NotForYou} me=${me} />`)}
    </main>`;
};

type Served = {
  readonly isAdmin: boolean;
  readonly hasWebhooks: boolean;
  readonly isDeveloped: boolean;
};

const OF_DEVELOPMENT = new Set(['new-aggregate', 'add-field']);

const pageAt = (view: Route['view'], { isAdmin, hasWebhooks, isDeveloped }: Served): (typeof VIEWS)[View] => {
  const isMissing = (section: string): boolean =>
    (section === 'webhooks' && !hasWebhooks) || (OF_DEVELOPMENT.has(section) && !isDeveloped);
  if (view === 'unknown' || isMissing(VIEWS[view][1])) return [Unknown, isAdmin ? '' : 'data'];
  return view === 'overview' && !isAdmin ? VIEWS.data : VIEWS[view];
};

const NotForYou = ({ me }: { readonly me: Me }) => html`
  <${Heading} title="This page is for administrators" />
  <p>You are signed in as <strong>${me.name}</strong>, whose role is <strong>${me.role ?? 'unknown'}</strong>. You find the items that you can read and change in <a href="/console/data">Data</a>.</p>
  <p>Ask an administrator to give you the role <code>admin</code>, then sign out and in again. Or sign out, and sign in as an administrator.</p>
  <p>The operator of the installation can change the role with a command:</p>
  <pre tabindex="0"><code>${`curl -X PATCH ${location.origin}/users/${me.id} \\
  -H "Authorization: Bearer $(npm run -s token -- --scope write:users)" \\
  -H 'Content-Type: application/json' -d '{"role":"admin"}'`}</code></pre>
`;

const Unknown = () =>
  html`<${Heading} title="There is nothing here" /><p>Check the address. <a href="/console">Go to the overview</a></p>`;
