import type { Message } from './mail.ts';

type Addressed = { readonly to: string; readonly name: string | undefined };

const greeting = (name: string | undefined): string => (name === undefined ? 'Hello,' : `Hello ${name},`);

const IGNORE = 'If you did not ask for this, ignore this mail: nothing changes unless the link is used.';

export const resetMessage = ({ to, name, link }: Addressed & { readonly link: string }): Message => ({
  to,
  subject: 'Choose a new password',
  text: `${greeting(name)}

Use this link to choose a new password for your account. It is valid once, for half an hour:

${link}

${IGNORE}
`,
});

export const confirmSignUpMessage = ({ to, name, link }: Addressed & { readonly link: string }): Message => ({
  to,
  subject: 'Confirm your e-mail address',
  text: `${greeting(name)}

Use this link to confirm your e-mail address and create your account. It is valid for a day:

${link}

If you did not ask for this, ignore this mail: no account is created unless the link is used.
`,
});

export const confirmAddressMessage = ({
  to,
  name,
  link,
}: Addressed & { readonly link: string }): Message => ({
  to,
  subject: 'Confirm your e-mail address',
  text: `${greeting(name)}

Use this link to confirm that this is your e-mail address, with which you sign in to your account. It is valid once, for a day:

${link}

If you have no account, do not use the link. Somebody else has created one with your address: it becomes yours if you choose a new password for it.
`,
});

type HasAccount = Addressed & { readonly accountUrl: string; readonly resetUrl: string };

/** To a person who already has an account: the page that was filled in does not say so. */
export const hasAccountMessage = ({ to, name, accountUrl, resetUrl }: HasAccount): Message => ({
  to,
  subject: 'You already have an account',
  text: `${greeting(name)}

Somebody tried to create an account with your e-mail address. You already have one: sign in at ${accountUrl}

If you have forgotten your password, choose a new one at ${resetUrl}

If it was not you, ignore this mail: nothing was changed.
`,
});

export const passwordChangedMessage = ({
  to,
  name,
  accountUrl,
}: Addressed & { readonly accountUrl: string }): Message => ({
  to,
  subject: 'Your password was changed',
  text: `${greeting(name)}

The password of your account has just been changed.

Your passkeys and the codes from your app did not change. Check them: ${accountUrl}/security

If it was not you, choose a new password at once: ${accountUrl}/reset
`,
});

type Noticed = Addressed & { readonly subject?: string; readonly what: string; readonly accountUrl: string };

/** Reports that the account's protection has changed, or that somebody tries to bypass it. */
export const signInMessage = ({
  to,
  name,
  subject = 'Your sign-in methods were changed',
  what,
  accountUrl,
}: Noticed): Message => ({
  to,
  subject,
  text: `${greeting(name)}

${what}

If it was not you, choose a new password at once, and check the sign-in methods of your account: ${accountUrl}/security
`,
});

/** To the former address: an attacker who took the account over does not get it. */
export const addressChangedMessage = ({ to, name }: Addressed): Message => ({
  to,
  subject: 'Your e-mail address was changed',
  text: `${greeting(name)}

Your account now has another e-mail address, and mail about the account goes there.

If you did not change it, inform the operator of this site.
`,
});

/** To the new address: its owner learns that an account uses it. */
export const addressGivenMessage = ({ to, name }: Addressed): Message => ({
  to,
  subject: 'Your account now has this e-mail address',
  text: `${greeting(name)}

An administrator gave your account this e-mail address. Sign in with it from now on. Mail about the account goes to this address.

If you did not expect this mail, inform the operator of this site.
`,
});

export const invitationMessage = ({
  to,
  link,
}: Pick<Addressed, 'to'> & { readonly link: string }): Message => ({
  to,
  subject: 'You are invited',
  text: `Hello,

You are invited to create an account. This link is valid once, for a week:

${link}

If you did not expect this invitation, ignore this mail.
`,
});
