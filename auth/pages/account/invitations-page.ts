import type { Role } from '#kernel/base/events/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf, roleTextOf } from '#kernel/registry/roles.ts';
import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import {
  choices,
  type FieldOptions,
  field,
  hidden,
  type Problems,
  summaryOf,
  titleOf,
} from '../parts/field.ts';
import { emailField } from '../parts/person-fields.ts';
import { momentOf } from '../parts/time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';

type ShownInvitation = {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly until?: string | undefined;
  readonly expiresAt: Date;
  readonly isOver: boolean;
};

export type InvitationsView = AccountView & {
  readonly domain: Domain;
  readonly email: string;
  readonly role: Role;
  /** As it was typed: the last day of an auditor. */
  readonly until?: string | undefined;
  readonly problems: Problems<'email' | 'until'>;
  readonly invitations: readonly ShownInvitation[];
  /** Made just now, and not shown again. */
  readonly made?: { readonly email: string; readonly link: string; readonly isMailed: boolean } | undefined;
};

export const invitationsPage = ({
  domain,
  email,
  role,
  until,
  problems,
  invitations,
  made,
  ...view
}: InvitationsView): Page =>
  accountPage(view, {
    section: PATHS.invitations,
    title: titleOf('Invitations', problems),
    main: html`${summaryOf(problems)}
<h1>Invitations</h1>
${made !== undefined && madeBox(made)}
<p class="lead">The person you invite gets a link to create an account with the role that you choose. The link is valid once, for a week.</p>
<form method="post" action="${PATHS.invitations}" novalidate>
${hidden('token', view.token)}
${emailField({ autocomplete: 'off', value: email, problem: problems.email })}
${choices({ name: 'role', legend: 'Role', options: rolesOf(domain).map((each) => [each, roleTextOf(domain, each)] as const), chosen: role })}
${domain.auditors === true && untilField({ value: until, problem: problems.until })}
<div class="actions"><button class="primary" type="submit" name="do" value="invite">Invite</button></div>
</form>
<h2>Open invitations</h2>
${
  invitations.length === 0
    ? html`<p>There are none.</p>`
    : html`<ul class="items">${invitations.map((invitation) => itemOf(domain, invitation, view.token))}</ul>`
}`,
  });

const untilField = (typed: Pick<FieldOptions, 'value' | 'problem'>): Html =>
  field({
    ...{ name: 'until', label: 'Last day of an auditor', type: 'day', autocomplete: 'off', maxLength: 10 },
    hint: 'For auditors alone, in UTC, at most a year ahead: 2027-03-31.',
    isOptional: true,
    ...typed,
  });

const madeBox = ({
  email,
  link,
  isMailed,
}: NonNullable<InvitationsView['made']>): Html => html`<div class="done" role="status">
<p>${email} is invited. ${isMailed ? 'The link is on its way by mail.' : 'This site sends no mail: send them this link yourself. It is not shown again.'}</p>
${!isMailed && html`<p class="link-shown">${link}</p>`}
</div>`;

const itemOf = (
  domain: Domain,
  { id, email, role, until, expiresAt, isOver }: ShownInvitation,
  token: string,
): Html => html`<li><div>
<h3>${email}</h3>
<p class="small">${roleTextOf(domain, role)}${until !== undefined && html`, until ${until}`}</p>
<p class="small">${isOver ? 'Expired on' : 'Valid until'} ${momentOf(expiresAt)}</p></div>
<form method="post" action="${PATHS.invitations}">
${hidden('token', token)}${hidden('id', id)}
<button type="submit" name="do" value="revoke" aria-label="Revoke the invitation of ${email}">Revoke</button>
</form></li>`;
