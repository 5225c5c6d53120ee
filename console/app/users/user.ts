import { useApi, useAsked } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { Account } from './account.ts';
import { Erased } from './erased.ts';
import { useRoles } from './invitations.ts';
import { LatestActions } from './latest-actions.ts';
import type { User } from './users.ts';

/** A user: profile, ways to sign in, sessions and tokens, and latest events. */
export const UserPage = ({ route: { parameters } }: { readonly route: Route }) => {
  const id = encodeURIComponent(parameters.id ?? '');
  const asked = useAsked<User>(`/users/${id}`);
  // A deleted user answers 404, like one who never existed; the erasure report distinguishes them.
  const isGone = asked.problem?.status === 404;
  return html`
    <p class="back"><a href="/console/users">All accounts</a></p>
    <${Heading} title=${isGone ? `User ${id}, deleted` : (asked.body?.name ?? 'User')} />
    ${
      isGone
        ? html`<${Erased} id=${id} />`
        : html`<${Whole} asked=${asked} show=${(user: User) => html`<${Facts} user=${user} />
            <${Actions} user=${user} etag=${asked.etag} reload=${asked.reload} />
            <${Account} user=${user} />`} />`
    }
    <${LatestActions} id=${id} />`;
};

const Facts = ({ user: { id, email, role, createdAt } }: { readonly user: User }) => html`<dl class="facts">
  <div><dt>E-mail address</dt><dd>${email ?? html`<span class="soft">none</span>`}</dd></div>
  <div><dt>Role</dt><dd>${role}</dd></div>
  <div><dt>Id</dt><dd>${id}</dd></div>
  ${createdAt && html`<div><dt>Since</dt><dd><${Time} at=${createdAt} short /></dd></div>`}
</dl>`;

type ActionsOptions = { readonly user: User; readonly etag: string | undefined; readonly reload: () => void };

const Actions = ({ user: { id, name, role }, etag, reload }: ActionsOptions) => {
  const api = useApi();
  const path = `/users/${id}`;
  const give = async (to: string) => {
    await api.send('PATCH', path, { body: { role: to }, ifMatch: etag });
    reload();
  };
  const erase = async () => {
    await api.send('DELETE', path, { ifMatch: etag });
    reload();
  };
  return html`<div class="tools ways">
    <a class="button" href=${`/console/data/users/${id}`}>Profile and forms</a>
    <a class="button" href=${`/console/items/users/${id}`}>History</a>
    ${useRoles()
      .filter((each) => each !== role)
      .map(
        (
          each,
        ) => html`<${Confirm} key=${each} label=${`Make ${each}`} title=${`Give ${name} the role ${each}?`} doing="Change the role" act=${() => give(each)}>
          <p>The rights of the user change at once, also for applications and tokens that act for them.</p>
        <//>`,
      )}
    <${Confirm} label="Erase" kind="danger" title=${`Erase ${name}?`} doing="Erase permanently" act=${erase}>
      <p>The key of their personal data is destroyed: nobody can read it again, not even in the history. Their sessions, tokens and webhooks end. This cannot be undone.</p>
    <//>
  </div>`;
};
