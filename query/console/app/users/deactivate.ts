import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import { useApi, useAsked } from '../asking.ts';
import { Confirm } from '../confirm.ts';
import { html } from '../html.ts';
import type { User } from './users.ts';

type Hook = { readonly id: number };

/** Deactivates an account, and its webhooks too if the administrator wants that. */
export const Deactivate = ({ user, done }: { readonly user: User; readonly done: () => void }) => {
  const api = useApi();
  const { body: webhooks = [], reload } = useAsked<readonly Hook[]>(
    `/webhooks?owner=${user.id}&enabled=true&limit=100`,
  );
  const [isAlso, setAlso] = useState(false);
  const act = async () => {
    await api.post(`/account/people/${user.id}/deactivate`);
    for (const { id } of isAlso ? webhooks : []) await api.post(`/webhooks/${id}/disable`);
    reload();
    done();
  };
  const toggle = (event: Event) => setAlso((event.currentTarget as HTMLInputElement).checked);
  return html`<${Confirm} label="Deactivate" title=${`Deactivate ${user.name}?`} doing="Deactivate" act=${act}>
    <p>Until you reactivate the account, nobody can sign in to it, and applications and tokens that act for it are refused.${
      webhooks.length > 0 &&
      ` Its webhooks continue, unless you disable them. Reactivating the account does not enable them.`
    }</p>
    ${webhooks.length > 0 && html`<p><label class="choice"><input type="checkbox" checked=${isAlso} onChange=${toggle} /><span>Disable ${plural(webhooks.length, 'webhook')} too</span></label></p>`}
  <//>`;
};
