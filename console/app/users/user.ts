import { useState } from 'preact/hooks';
import { countText } from '#shared/format.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { useApi, useAsked, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { Through } from '../base/names.ts';
import { Badge, Heading, Table, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { eventText } from '../data/item.ts';
import { ActorName, Subject } from '../data/names.ts';
import { Account } from './account.ts';
import { LastDay, useHasAuditors, useRoles } from './invitations.ts';
import { Reads } from './reads.ts';
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
    <${LatestActions} id=${id} />
    <${Reads} id=${id} />`;
};

const Facts = ({
  user: { id, email, role, auditorUntil, createdAt },
}: {
  readonly user: User;
}) => html`<dl class="facts">
  <div><dt>E-mail address</dt><dd>${email ?? html`<span class="soft">none</span>`}</dd></div>
  <div><dt>Role</dt><dd>${role}</dd></div>
  ${role === 'auditor' && auditorUntil && html`<div><dt>Last day</dt><dd>${auditorUntil}</dd></div>`}
  <div><dt>Id</dt><dd>${id}</dd></div>
  ${createdAt && html`<div><dt>Since</dt><dd><${Time} at=${createdAt} short /></dd></div>`}
</dl>`;

type ActionsOptions = { readonly user: User; readonly etag: string | undefined; readonly reload: () => void };

const Actions = ({ user: { id, name, role }, etag, reload }: ActionsOptions) => {
  const api = useApi();
  const path = `/users/${id}`;
  const hasAuditors = useHasAuditors();
  const give = async (to: string, auditorUntil?: string) => {
    const body = { role: to, ...(auditorUntil !== undefined && { auditorUntil }) };
    await api.send('PATCH', path, { body, ifMatch: etag });
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
      .filter((each) => each !== role && !(hasAuditors && each === 'auditor'))
      .map(
        (
          each,
        ) => html`<${Confirm} key=${each} label=${`Make ${each}`} title=${`Give ${name} the role ${each}?`} doing="Change the role" act=${() => give(each)}>
          <p>The rights of the user change at once, also for applications and tokens that act for them.</p>
        <//>`,
      )}
    ${hasAuditors && html`<${Audit} user=${{ name, role }} act=${(day: string) => give('auditor', day)} />`}
    <${Confirm} label="Erase" kind="danger" title=${`Erase ${name}?`} doing="Erase permanently" act=${erase}>
      <p>The key of their personal data is destroyed: nobody can read it again, not even in the history. Their sessions, tokens and webhooks end. This cannot be undone.</p>
    <//>
  </div>`;
};

type AuditOptions = {
  readonly user: Pick<User, 'name' | 'role'>;
  readonly act: (day: string) => Promise<unknown>;
};

/** Makes somebody an auditor up to a day, or gives an auditor another last day. */
const Audit = ({ user: { name, role }, act }: AuditOptions) => {
  const [day, setDay] = useState('');
  const isOne = role === 'auditor';
  return html`<${Confirm}
    label=${isOne ? 'Change the last day' : 'Make auditor'}
    title=${isOne ? `Until when is ${name} an auditor?` : `Make ${name} an auditor?`}
    doing="Set the last day"
    act=${() => act(day)}>
    <p>An auditor reads everything, changes nothing, and has no access after the last day, which is at most a year ahead. A day that has passed ends the access at once.</p>
    <${LastDay} change=${setDay} />
  <//>`;
};

const EVERY_MS = 3_000;
type Part = ErasureReport['parts'][number];

/** The erased data of a user, and residual personal data. */
const Erased = ({ id }: { readonly id: string }) => {
  const asked = useAsked<ErasureReport>(`/users/${id}/erasure`, EVERY_MS);
  return html`<section aria-labelledby="erasure"><h2 id="erasure">Erasure</h2>
    <${Whole} asked=${asked} show=${(report: ErasureReport) => html`<${Report} report=${report} />`} /></section>`;
};

const Report = ({
  report: { isDone, asked, keyDestroyedAt, parts, kept, sealed },
}: {
  readonly report: ErasureReport;
}) => html`
  <p>${isDone ? html`<${Badge} tone="good">erased<//> No residual personal data was found.` : html`<${Badge} tone="warn">in progress<//> The rest is erased within moments.`}</p>
  <dl class="facts">
    <div><dt>Deleted</dt><dd>${asked === null ? 'not in the log yet' : html`<${Time} at=${asked.at} short />, by <${ActorName} actor=${asked.actor} />`}</dd></div>
    <div><dt>Key destroyed</dt><dd>${keyDestroyedAt === null ? 'not yet' : html`<${Time} at=${keyDestroyedAt} short />`}</dd></div>
    <div><dt>Events that nobody can decrypt</dt><dd>${countText(sealed.reduce((sum, { events }) => sum + events, 0))}</dd></div>
    ${Object.entries(kept).map(([name, count]) => html`<div><dt>Stays without personal data: ${name}</dt><dd>${countText(count)}</dd></div>`)}
  </dl>
  <${Table}
    caption="Places that may have personal data of the user"
    items=${parts}
    keyOf=${({ part }: Part) => part}
    columns=${[
      { label: 'Where', cell: ({ part }: Part) => part },
      { label: 'Left', cell: ({ left }: Part) => (left === 0 ? 'nothing' : countText(left)) },
    ]}
  />`;

type Deed = {
  readonly cursor: string;
  readonly type: string;
  readonly at: string;
  readonly subject: string;
  readonly client?: string | null;
};

const SHOWN = 20;

/** The latest events of a user, with the application of each. */
const LatestActions = ({ id }: { readonly id: string }) => {
  const pages = usePages<Deed>(`/events?sort=-cursor&limit=${SHOWN}&actor=user:${id}`);
  return html`<section aria-labelledby="deeds">
    <h2 id="deeds">Latest actions</h2>
    <p><a href=${`/console/events?by=user:${id}`}>Search and filter these events</a></p>
    <${Whole} asked=${pages} show=${(deeds: readonly Deed[]) => html`
      ${deeds.length === 0 && html`<p class="soft">There are no events of this user.</p>`}
      <ol class="latest">${deeds.map(
        ({
          cursor,
          type,
          at,
          subject,
          client,
        }) => html`<li key=${cursor}><strong>${eventText(type)}</strong> <${Subject} subject=${subject} />
          <br /><span class="soft"><${Time} at=${at} short />${client && html`, through <${Through} client=${client} />`}</span></li>`,
      )}</ol>
      ${pages.more && html`<p><button type="button" onClick=${pages.more}>Show more</button></p>`}`} />
  </section>`;
};
