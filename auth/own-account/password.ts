import * as z from 'zod';
import { html } from '#shared/html.ts';
import type { Allowance } from '../accounts/attempts.ts';
import { setPhc } from '../accounts/credentials.ts';
import { fieldsOf } from '../accounts/form.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { passwordProblem } from '../accounts/sign-up-form.ts';
import { passwordChangedMessage } from '../mail/messages.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { checkbox, hasProblems, hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import {
  newPasswordField,
  PASSWORD_MAX,
  PASSWORD_NOTE,
  passwordField,
} from '../pages/parts/person-fields.ts';
import { deleteResetsOf } from '../password-reset/reset-table.ts';
import { confirmPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { byVisitor, end, everything, renewSession } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  | 'provider'
  | 'pool'
  | 'tokens'
  | 'readProfile'
  | 'credentials'
  | 'attempts'
  | 'limits'
  | 'devices'
  | 'emailHash'
  | 'record'
  | 'endAccess'
  | 'rowProofs'
  | 'post'
  | 'issuerUrl'
>;

const Password = z.object({
  current: z.string().max(PASSWORD_MAX),
  password: z.string().max(PASSWORD_MAX),
  everywhere: z.literal('yes').optional(),
});

/** Limits the estimates and hashes of passwords, also for somebody who knows the current one. */
const CHANGES: Allowance = { name: 'password-change', burst: 20, intervalMs: 60_000 };

export const password = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.password,
  isSensitive: true,
  async show(visitor) {
    // A person without a password sets one by a mailed link, which proves that the address is theirs.
    if ((await dependencies.credentials.changedAt(visitor.userId)) === undefined)
      return goTo(visitor, PATHS.security);
    answer(dependencies, visitor, { problems: {} });
  },
  async submit(visitor) {
    const form = fieldsOf(Password, visitor.request);
    const taken = await dependencies.attempts.take(CHANGES, String(visitor.userId));
    if (!taken.granted) {
      visitor.response.set('Retry-After', String(waitSeconds(taken.waitMs)));
      const problems = { form: `Too many attempts. Try again in ${waitText(taken.waitMs)}.` };
      return answer(dependencies, visitor, { problems, status: 429 });
    }
    const { name = '', email = '' } = await dependencies.readProfile(visitor.userId);
    const isWeak = await passwordProblem({ name, email, password: form.password });
    if (isWeak !== undefined)
      return answer(dependencies, visitor, { problems: { password: isWeak }, status: 422 });
    const unconfirmed = await confirmPassword(dependencies, visitor, form.current);
    if (unconfirmed !== undefined)
      return answer(dependencies, visitor, {
        problems: { current: unconfirmed.text },
        status: unconfirmed.status,
      });
    await change(dependencies, visitor, {
      password: form.password,
      everywhere: form.everywhere !== undefined,
    });
    if (email !== '')
      dependencies.post.send(async () =>
        passwordChangedMessage({ to: email, name, accountUrl: `${dependencies.issuerUrl}${PATHS.home}` }),
      );
    goTo(visitor, PATHS.security, form.everywhere ? 'everywhere' : 'password');
  },
});

const answer = (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<PasswordView, 'problems' | 'status'>,
): void => answerPage(visitor.response, passwordPage({ ...viewOf(dependencies, visitor), ...filled }));

const change = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { password, everywhere }: { readonly password: string; readonly everywhere: boolean },
): Promise<void> => {
  const { provider, pool, credentials, rowProofs, record } = dependencies;
  const { userId, sessionUid } = visitor;
  // Only if the account still exists: a deleted account must not get a password again.
  await setPhc({ database: pool, rowProofs }, userId, await credentials.hash(password));
  await deleteResetsOf(pool, userId);
  await record(
    { type: 'account.password_changed', data: { userId, by: 'password' } },
    securityContextOf(visitor),
  );
  if (everywhere) await end(dependencies, byVisitor(visitor), everything(sessionUid));
  await renewSession(provider, visitor);
};

const EVERYWHERE =
  'Sign me out everywhere else, and end my access tokens, the access of applications, and the console in this browser';

type PasswordView = AccountView & { readonly problems: Problems<'current' | 'password'> };

const passwordPage = ({ problems, ...view }: PasswordView): Page =>
  accountPage(view, {
    section: PATHS.security,
    note: PASSWORD_NOTE,
    title: titleOf('Change the password', problems),
    main: html`${summaryOf(problems)}
<h1>Change the password</h1>
<form method="post" action="${PATHS.password}" novalidate>
${hidden('token', view.token)}
${passwordField({ name: 'current', label: 'Current password', problem: problems.current, hasFocus: !hasProblems(problems) })}
${newPasswordField({ problem: problems.password })}
${checkbox({ name: 'everywhere', label: EVERYWHERE, isTicked: true })}
<div class="actions"><button class="primary" type="submit">Change the password</button></div>
</form>
<p>Forgotten your password? <a href="/account/reset">Get a link to choose a new one</a></p>`,
  });
