import { useState } from 'preact/hooks';
import { useApi, useAsked, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Listing, Whole } from '../base/parts.ts';
import { go, type Route } from '../base/router.ts';
import { BriefTime, Time } from '../base/time.ts';
import { Subject } from '../data/names.ts';
import { Secret } from './secret.ts';
import { TOKEN_EXCHANGE } from './settings.ts';

/** A client as `GET /clients` returns it. */
export type Client = {
  readonly clientId: string;
  readonly secret?: string;
  readonly name: string;
  readonly tokenEndpointAuthMethod: string;
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly firstParty: boolean;
  readonly disabled: boolean;
  readonly selfRegistered: boolean;
  readonly serviceAccount: number | null;
  /** With a precision of an hour. */
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
};

const CONSOLE = 'console';

const doing = (grantTypes: readonly string[]): string => {
  if (grantTypes.includes('client_credentials')) return 'for itself';
  return grantTypes.includes(TOKEN_EXCHANGE) ? 'for users of others' : 'for its users';
};

const ClientState = ({ client: { clientId, disabled, selfRegistered } }: { readonly client: Client }) => {
  if (clientId === CONSOLE) return html`<${Badge} tone="plain">built in<//>`;
  if (disabled) return html`<${Badge} tone="bad">disabled<//>`;
  return html`<${Badge} tone="good">active<//>${selfRegistered && html` <${Badge} tone="plain">self-registered<//>`}`;
};

const LastUse = ({ at }: { readonly at: string | null }) =>
  at === null ? html`<span class="soft">never</span>` : html`<${BriefTime} at=${at} />`;

/** The programs that may request tokens. */
export const Clients = () => {
  const pages = usePages<Client>('/clients?limit=50');
  return html`
    <${Heading} title="Clients"><a class="button primary" href="/console/clients/new">New client</a><//>
    <${Listing}
      pages=${pages}
      caption="Clients by id"
      keyOf=${({ clientId }: Client) => clientId}
      empty=${html`<p>There are no clients. A program needs one to act for its users or for itself.</p>`}
      columns=${[
        {
          label: 'Client',
          cell: ({ clientId, name }: Client) =>
            html`<a href=${`/console/clients/${clientId}`}>${name}</a><br /><code>${clientId}</code>`,
        },
        { label: 'State', cell: (client: Client) => html`<${ClientState} client=${client} />` },
        {
          label: 'Acts',
          cell: ({ grantTypes }: Client) => doing(grantTypes),
        },
        { label: 'Last used', cell: ({ lastUsedAt }: Client) => html`<${LastUse} at=${lastUsedAt} />` },
        {
          label: 'Scopes',
          cell: ({ scopes }: Client) => html`<span class="scopes">${scopes.join(' ') || '–'}</span>`,
        },
      ]}
    />`;
};

/** One client; its secret is shown once, when it is created. */
export const ClientPage = ({ route: { parameters } }: { readonly route: Route }) => {
  const asked = useAsked<Client>(`/clients/${encodeURIComponent(parameters.id ?? '')}`);
  return html`
    <p class="back"><a href="/console/clients">All clients</a></p>
    <${Heading} title=${asked.body?.name ?? 'Client'} />
    <${Whole} asked=${asked} show=${(client: Client) => html`<${Facts} client=${client} /><${Actions} client=${client} />`} />`;
};

const Facts = ({ client }: { readonly client: Client }) => {
  const {
    clientId,
    tokenEndpointAuthMethod,
    grantTypes,
    redirectUris,
    scopes,
    serviceAccount,
    lastUsedAt,
    createdAt,
    updatedAt,
    firstParty,
  } = client;
  return html`<dl class="facts">
    <div><dt>Id</dt><dd><code>${clientId}</code></dd></div>
    <div><dt>State</dt><dd><${ClientState} client=${client} /></dd></div>
    <div><dt>Grants</dt><dd>${grantTypes.map((grant) => html`<code>${grant}</code> `)}</dd></div>
    <div><dt>Authentication</dt><dd><code>${tokenEndpointAuthMethod}</code></dd></div>
    ${redirectUris.length > 0 && html`<div><dt>Redirects to</dt><dd>${redirectUris.map((uri) => html`<code>${uri}</code> `)}</dd></div>`}
    <div><dt>Scopes</dt><dd>${scopes.join(' ') || '–'}</dd></div>
    ${redirectUris.length > 0 && html`<div><dt>Asks for consent</dt><dd>${firstParty ? 'no, it is your own application' : 'yes'}</dd></div>`}
    ${serviceAccount !== null && html`<div><dt>Acts as</dt><dd><${Subject} subject=${`user-${serviceAccount}`} /></dd></div>`}
    <div><dt>Last used</dt><dd>${lastUsedAt === null ? 'never' : html`<${Time} at=${lastUsedAt} short />, to within an hour`}</dd></div>
    <div><dt>Created</dt><dd><${Time} at=${createdAt} /></dd></div>
    <div><dt>Changed</dt><dd><${Time} at=${updatedAt} /></dd></div>
  </dl>`;
};

const Actions = ({ client: { clientId, name, _links } }: { readonly client: Client }) => {
  const api = useApi();
  const [secret, setSecret] = useState<string>();
  if (clientId === CONSOLE)
    return html`<p class="soft">This client is part of every installation: nobody can change or delete it.</p>`;
  const rotate = async () => setSecret((await api.post<Client>(`/clients/${clientId}/secret`)).body.secret);
  const remove = async () => {
    await api.remove(`/clients/${clientId}`);
    go('/console/clients');
  };
  return html`
    ${secret && html`<${Secret} secret=${secret} />`}
    <div class="tools ways">
      ${
        _links.secret &&
        html`<${Confirm} label="New secret" title=${`Give ${name} a new secret?`} doing="Create a new secret" act=${rotate}>
          <p>The current secret stops working at once.</p>
        <//>`
      }
      <${Confirm} label="Delete" kind="danger" title=${`Delete ${name}?`} doing="Delete it" act=${remove}>
        <p>Users who are signed in through it are signed out, and its tokens end. This cannot be undone.</p>
      <//>
    </div>`;
};
