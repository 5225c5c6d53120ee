import type { Message } from './mail.ts';

type Addressed = { readonly to: string; readonly name: string | undefined };

const greeting = (name: string | undefined): string => (name === undefined ? 'Hello,' : `Hello ${name},`);

const IGNORE =
  'If it was not you who asked for it, you need not do anything: without this link nothing changes.';

export const resetMessage = ({ to, name, link }: Addressed & { readonly link: string }): Message => ({
  to,
  subject: 'Choose a new password',
  text: `${greeting(name)}

by this link you choose a new password for your account. It is good for half an hour, and once:

${link}

${IGNORE}
`,
});

export const confirmSignUpMessage = ({ to, name, link }: Addressed & { readonly link: string }): Message => ({
  to,
  subject: 'Confirm your e-mail address',
  text: `${greeting(name)}

by this link you confirm that this is your e-mail address, and create your account. It is good for a day:

${link}

If it was not you who asked for it, you need not do anything: without this link there is no account.
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

by this link you confirm that this is your e-mail address. You sign in to your account with it. It is good for a day, and once:

${link}

If you have no account, do not use the link. Somebody else has created one with your address: it becomes yours if you choose a new password for it.
`,
});

type HasAccount = Addressed & { readonly accountUrl: string; readonly resetUrl: string };

/** To a person who already has an account: the page that was filled in does not say so. */
export const hasAccountMessage = ({ to, name, accountUrl, resetUrl }: HasAccount): Message => ({
  to,
  subject: 'You have an account already',
  text: `${greeting(name)}

somebody wanted to create an account with your e-mail address. You have one: sign in to it at ${accountUrl}

If you have forgotten the password, choose a new one at ${resetUrl}

If it was not you, you need not do anything: nothing was changed.
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

the password of your account was changed just now.

Your passkeys and the codes from your app are as they were. Look at them: ${accountUrl}/security

If it was not you, choose a new one at once: ${accountUrl}/reset
`,
});

type Noticed = Addressed & { readonly subject?: string; readonly what: string; readonly accountUrl: string };

/** Reports that the account's protection has changed, or that somebody tries to bypass it. */
export const signInMessage = ({
  to,
  name,
  subject = 'How you sign in was changed',
  what,
  accountUrl,
}: Noticed): Message => ({
  to,
  subject,
  text: `${greeting(name)}

${what}

If it was not you, choose a new password at once, and look at how one can sign in to your account: ${accountUrl}/security
`,
});

/** To the former address: an attacker who took the account over does not get it. */
export const addressChangedMessage = ({ to, name }: Addressed): Message => ({
  to,
  subject: 'Your e-mail address was changed',
  text: `${greeting(name)}

your account has another e-mail address now, and mail about it goes there.

If you did not change it, inform the operator of this site.
`,
});

/** To the new address: its owner learns that an account uses it. */
export const addressGivenMessage = ({ to, name }: Addressed): Message => ({
  to,
  subject: 'Your account has this e-mail address now',
  text: `${greeting(name)}

an administrator has given your account this e-mail address. You sign in with it from now on, and mail about the account comes here.

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

you are invited to create an account. This link is good for a week, and once:

${link}

If you do not know what this is about, you need not do anything.
`,
});
