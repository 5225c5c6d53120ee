import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import { readAll } from '../base/all-pages.ts';
import { useApi, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { useDomain } from '../data/domain.ts';
import type { User } from './users.ts';

type Hook = { readonly id: number };

type Options = { readonly user: User; readonly done: () => void };

/** Deactivates an account, and its webhooks too if the administrator wants that. */
export const Deactivate = ({ user, done }: Options) =>
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
