import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import type { ManagedAccount } from '#shared/rest/managed-accounts.ts';
import { readAll } from '../base/all-pages.ts';
import { useApi, useAsked, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Act, Badge, Table, Whole } from '../base/parts.ts';
import { BriefTime } from '../base/time.ts';
import { useDomain, useMe } from '../data/domain.ts';
import type { User } from './users.ts';

/** How a user signs in, and the sessions and tokens that act for them. */
export const Account = ({ user }: { readonly user: User }) => {
  const api = useApi();
  const isMe = useMe()?.id === user.id;
  const path = `/account/people/${user.id}`;
  const asked = useAsked<ManagedAccount>(path);
  const then = (work: Promise<unknown>) => work.then(asked.reload);
  const end = (what: string) => () => then(api.remove(`${path}/${what}`));
  return html`<${Whole} asked=${asked} show=${(account: ManagedAccount) => html`
    <section aria-labelledby="account"><h2 id="account">Signing in</h2>
      <p>${account.status === 'active' ? html`<${Badge} tone="good">active<//>` : html`<${Badge} tone="bad">deactivated<//>`} ${waysOf(account)}</p>
      <div class="tools">${
        account.status === 'deactivated'
          ? html`<${Act} act=${() => then(api.post(`${path}/reactivate`))}>Reactivate<//>`
          : user.role !== 'admin' && html`<${Deactivate} user=${user} done=${asked.reload} />`
      }${
        account.sessions.length + account.applications.length + account.tokens.length > 0 &&
        html`<${Confirm} label="End all access" title=${`End all access of ${user.name}?`} doing="End all access" act=${end('access')}>
          <p>All sessions of the user end, with the console in their browsers, the access of all applications, and all access tokens. They can sign in again.${isMe && ' You end your own access: this page asks you to sign in again.'}</p>
        <//>`
      }</div>
    </section>
    <${Acting} title="Sessions" none="The user has no sessions." items=${account.sessions.map(
      ({ id, browser, network, signedInAt, lastSeenAt }) => ({
        key: id,
        name: `${browser ?? 'A browser'}${network === null ? '' : ` from ${network}`}`,
        since: signedInAt,
        usedAt: lastSeenAt,
        end: end(`sessions/${encodeURIComponent(id)}`),
      }),
    )} />
    ${
      account.identities.length > 0 &&
      html`<${Acting} title="Linked accounts" none="" items=${account.identities.map(
        ({ id, upstream, linkedAt, lastUsedAt }) => ({
          key: id,
          name: upstream,
          since: linkedAt,
          usedAt: lastUsedAt,
          end: end(`identities/${encodeURIComponent(id)}`),
        }),
      )} />`
    }
    <${Acting} title="Applications" none="No application may act for the user." items=${account.applications.map(
      ({ clientId, name, scopes, allowedAt, lastUsedAt }) => ({
        key: clientId,
        name,
        scopes,
        since: allowedAt,
        usedAt: lastUsedAt,
        end: end(`applications/${encodeURIComponent(clientId)}`),
      }),
    )} />
    <${Acting} title="Access tokens" none="The user has no personal access tokens." items=${account.tokens.map(
      ({ id, name, scopes, createdAt, lastUsedAt }) => ({
        key: id,
        name,
        scopes,
        since: createdAt,
        usedAt: lastUsedAt,
        end: end(`tokens/${encodeURIComponent(id)}`),
      }),
    )} />`} />`;
};

const waysOf = ({ hasPassword, passkeys, hasSecondFactor, isConfirmed }: ManagedAccount): string =>
  [
    hasPassword ? 'a password' : 'no password',
    passkeys === 0 ? 'no passkeys' : plural(passkeys, 'passkey'),
    hasSecondFactor ? 'an authenticator app' : 'no authenticator app',
    isConfirmed ? 'a confirmed address' : 'an unconfirmed address',
  ].join(', ');

type Actor = {
  readonly key: string;
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly since: string;
  readonly usedAt: string | null;
  readonly end: () => Promise<unknown>;
};

type ActingOptions = { readonly title: string; readonly none: string; readonly items: readonly Actor[] };

const Acting = ({ title, none, items }: ActingOptions) => html`<section>
  <h2>${title}</h2>
  ${
    items.length === 0
      ? html`<p class="soft">${none}</p>`
      : html`<${Table}
          caption=${title}
          items=${items}
          keyOf=${({ key }: Actor) => key}
          columns=${[
            { label: 'Name', cell: ({ name }: Actor) => html`<bdi>${name}</bdi>` },
            ...(items.some(({ scopes }) => scopes)
              ? [
                  {
                    label: 'Scopes',
                    cell: ({ scopes = [] }: Actor) => html`<span class="scopes">${scopes.join(' ')}</span>`,
                  },
                ]
              : []),
            { label: 'Since', cell: ({ since }: Actor) => html`<${BriefTime} at=${since} />` },
            {
              label: 'Last used',
              cell: ({ usedAt }: Actor) =>
                usedAt === null ? html`<span class="soft">–</span>` : html`<${BriefTime} at=${usedAt} />`,
            },
            {
              label: 'Action',
              cell: ({ name, end }: Actor) =>
                html`<${Act} act=${end}>End<span class="unseen"> ${name}</span><//>`,
            },
          ]}
        />`
  }
</section>`;

type Hook = { readonly id: number };

type Options = { readonly user: User; readonly done: () => void };

/** Deactivates an account, and its webhooks too if the administrator wants that. */
const Deactivate = ({ user, done }: Options) =>
  useDomain().hasWebhooks
    ? html`<${WithWebhooks} user=${user} done=${done} />`
    : html`<${Alone} user=${user} done=${done} />`;

const EFFECT =
  'Until you reactivate the account, nobody can sign in to it, and applications and tokens that act for it are refused.';

const Alone = ({ user, done }: Options) => {
  const api = useApi();
  const act = () => api.post(`/account/people/${user.id}/deactivate`).finally(done);
  return html`<${Confirm} label="Deactivate" title=${`Deactivate ${user.name}?`} doing="Deactivate" act=${act}>
    <p>${EFFECT}</p>
  <//>`;
};

const WithWebhooks = ({ user, done }: Options) => {
  const api = useApi();
  const path = `/webhooks?owner=${user.id}&enabled=true&limit=100`;
  const { body: webhooks = [], more, reload } = usePages<Hook>(path);
  const [isAlso, setAlso] = useState(false);
  const act = async () => {
    await api.post(`/account/people/${user.id}/deactivate`);
    try {
      // Now that nobody adds any: the page has shown the first, some time ago.
      const found = isAlso ? await readAll<Hook>(api, path) : [];
      // One that cannot be disabled leaves the others to be disabled.
      const refusals: unknown[] = [];
      for (const { id } of found)
        await api.post(`/webhooks/${id}/disable`).catch((error: unknown) => refusals.push(error));
      if (refusals.length > 0) throw refusals[0];
    } finally {
      reload();
      done();
    }
  };
  const toggle = (event: Event) => setAlso((event.currentTarget as HTMLInputElement).checked);
  return html`<${Confirm} label="Deactivate" title=${`Deactivate ${user.name}?`} doing="Deactivate" act=${act}>
    <p>${EFFECT}${
      webhooks.length > 0 &&
      ` Its webhooks continue, unless you disable them. Reactivating the account does not enable them.`
    }</p>
    ${webhooks.length > 0 && html`<p><label class="choice"><input type="checkbox" checked=${isAlso} onChange=${toggle} /><span>Disable ${more === undefined ? plural(webhooks.length, 'webhook') : 'all webhooks'} too</span></label></p>`}
  <//>`;
};
