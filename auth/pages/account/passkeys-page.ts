import { type Html, html } from '#shared/html.ts';
import type { Page } from '../page.ts';
import { field, hidden, type Problems, summaryOf, titleOf } from '../parts/field.ts';
import { type PasskeyForm, passkeyForm } from '../parts/passkey-form.ts';
import { NAME_MAX } from '../parts/person-fields.ts';
import { momentOf } from '../parts/time.ts';
import { type AccountView, accountPage, PATHS } from './account-page.ts';
import { confirmFirst } from './confirmation-page.ts';

type ShownPasskey = {
  readonly id: string;
  readonly name: string;
  readonly madeAt: Date;
  readonly usedAt: Date | null;
};

export type PasskeysView = AccountView & {
  readonly passkeys: readonly ShownPasskey[];
  /** Undefined if no passkey can be made, because the host is an IP address. */
  readonly form: PasskeyForm | undefined;
  /** A passkey needs a confirmed address. */
  readonly isUnconfirmed: boolean;
  readonly name: string;
  /** The passkey that is being renamed, with the typed name. */
  readonly renamed?: { readonly id: string; readonly name: string };
  /** `rename` belongs to the passkey that is being renamed. */
  readonly problems: Problems<'name' | 'rename'>;
};

export const passkeysPage = ({
  passkeys,
  form,
  isUnconfirmed,
  name,
  renamed,
  problems,
  ...view
}: PasskeysView): Page =>
  accountPage(view, {
    section: PATHS.security,
    title: titleOf('Passkeys', problems),
    ...(form !== undefined && { scriptUrl: form.scriptUrl }),
    main: html`${summaryOf(problems)}
<h1>Passkeys</h1>
<p class="lead">With a passkey you sign in with your fingerprint, your face or the PIN of your device, without a password or a code. It works only on
this site, so nobody can phish it.</p>
${
  passkeys.length > 0 &&
  html`<ul class="items">${passkeys.map((passkey) =>
    itemOf(
      passkey,
      view.token,
      passkey.id === renamed?.id ? { name: renamed.name, problem: problems.rename } : undefined,
    ),
  )}</ul>`
}
<h2>Add a passkey</h2>
${
  isUnconfirmed
    ? confirmFirst('Then you can add a passkey.')
    : form === undefined
      ? html`<p>Passkeys need a host name, but this site was opened by its IP address. Open it by its name.</p>`
      : html`<p data-without-passkey>This browser cannot create a passkey: it does not support passkeys, or scripts are disabled.</p>
${passkeyForm('create', form, addFields({ name, token: view.token, problem: problems.name }))}`
}
<p><a href="${PATHS.security}">Back to the ways to sign in</a></p>`,
  });

type AddFields = { readonly name: string; readonly token: string; readonly problem: string | undefined };

const addFields = ({
  name,
  token,
  problem,
}: AddFields): Html => html`${hidden('token', token)}${hidden('do', 'add')}
${field({
  name: 'name',
  label: 'Name',
  hint: 'Helps you to recognize it, such as the device that it is on.',
  type: 'text',
  autocomplete: 'off',
  maxLength: NAME_MAX,
  value: name,
  problem,
})}
<div class="actions"><button class="primary" type="submit">Add a passkey</button></div>`;

type Renamed = { readonly name: string; readonly problem: string | undefined };

const itemOf = (
  { id, name, madeAt, usedAt }: ShownPasskey,
  token: string,
  renamed?: Renamed,
): Html => html`<li><div>
<h2>${name}</h2>
<p class="small">Created on ${momentOf(madeAt)}</p>
<p class="small">${usedAt === null ? 'Not used yet' : html`Last used on ${momentOf(usedAt)}`}</p>
<details${renamed && html` open`}><summary>Rename</summary>
<form method="post" action="${PATHS.passkeys}" novalidate>
${hidden('token', token)}${hidden('id', id)}
${renamed?.problem && html`<p class="wrong" id="rename-problem">${renamed.problem}</p>`}
<input name="name" type="text" autocomplete="off" maxlength="${NAME_MAX}" required value="${renamed?.name ?? name}" aria-label="New name of ${name}"${
  renamed?.problem && html` id="rename" aria-describedby="rename-problem" aria-invalid="true"`
}>
<button type="submit" name="do" value="rename">Save the name</button>
</form></details>
<details><summary>Remove</summary>
<form method="post" action="${PATHS.passkeys}">
${hidden('token', token)}${hidden('id', id)}
<p>Nobody will be able to sign in with it.</p>
<button class="danger" type="submit" name="do" value="remove" aria-label="Remove this passkey: ${name}">Remove this passkey</button>
</form></details></div></li>`;
