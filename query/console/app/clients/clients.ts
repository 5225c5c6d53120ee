import { usePages } from '../asking.ts';
import { html } from '../html.ts';
import { Badge, Heading, Listing } from '../parts.ts';

/** A client as `GET /clients` shows it. */
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
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly _links: Readonly<Record<string, { readonly href: string }>>;
};

export const CONSOLE = 'console';

export const ClientState = ({ client: { clientId, disabled, selfRegistered } }: { readonly client: Client }) => {
  if (clientId === CONSOLE) return html`<${Badge} tone="plain">built in<//>`;
  if (disabled) return html`<${Badge} tone="bad">disabled<//>`;
  return html`<${Badge} tone="good">active<//>${selfRegistered && html` <${Badge} tone="plain">self-registered<//>`}`;
};

/** Programs that may ask for tokens. */
export const Clients = () => {
  const pages = usePages<Client>('/clients?limit=50');
  return html`
    <${Heading} title="Clients"><a class="button primary" href="/console/clients/new">New client</a><//>
    <${Listing}
      pages=${pages}
      caption="Clients by id"
      keyOf=${({ clientId }: Client) => clientId}
      empty=${html`<p>There is no client. A program that wants to act for its users, or for itself, needs one.</p>`}
      columns=${[
        {
          label: 'Client',
          cell: ({ clientId, name }: Client) => html`<a href=${`/console/clients/${clientId}`}>${name}</a><br /><code>${clientId}</code>`,
        },
        { label: 'State', cell: (client: Client) => html`<${ClientState} client=${client} />` },
        { label: 'Acts', cell: ({ grantTypes }: Client) => (grantTypes.includes('client_credentials') ? 'for itself' : 'for its users') },
        { label: 'Scopes', cell: ({ scopes }: Client) => html`<span class="scopes">${scopes.join(' ') || '–'}</span>` },
      ]}
    />`;
};
