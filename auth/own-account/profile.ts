import * as z from 'zod';
import { Rejection } from '#kernel/base/rejection.ts';
import { sameAddress } from '#kernel/base/same-address.ts';
import { email } from '#kernel/base/values.ts';
import { CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import { name } from '#shared/commands/fields.ts';
import { html } from '#shared/html.ts';
import type { Allowance } from '../accounts/attempts.ts';
import { fieldsOf } from '../accounts/form.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { type AccountView, accountPage, PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { Page } from '../pages/page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from '../pages/parts/field.ts';
import { EMAIL_MAX, emailField, nameField } from '../pages/parts/person-fields.ts';
import { deleteResetsOf } from '../password-reset/reset-table.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { contextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<OwnAccountDependencies, 'pool' | 'tokens' | 'readProfile' | 'gateway' | 'attempts'>;

const NAME_UNITS_MAX = 200;
const Profile = z.object({ name: z.string().max(NAME_UNITS_MAX), email: z.string().max(EMAIL_MAX) });

/** Limits how often one can learn that an address is taken. */
const CHANGES: Allowance = { name: 'profile-change', burst: 20, intervalMs: 60_000 };

type Filled = Pick<ProfileView, 'problems' | 'status'> & { readonly name: string; readonly email: string };

export const profile = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.profile,
  isSensitive: true,
  async show(visitor) {
    const known = await dependencies.readProfile(visitor.userId);
    answer(dependencies, visitor, { name: known.name ?? '', email: known.email ?? '', problems: {} });
  },
  async submit(visitor) {
    const fields = fieldsOf(Profile, visitor.request);
    const typed = { name: fields.name.trim(), email: fields.email.trim() };
    const again = (filled: Pick<Filled, 'problems' | 'status'>) =>
      answer(dependencies, visitor, { ...typed, ...filled });
    const problems = problemsIn(typed);
    if (hasProblems(problems)) return again({ problems, status: 422 });
    const taken = await dependencies.attempts.take(CHANGES, String(visitor.userId));
    if (!taken.granted) {
      visitor.response.set('Retry-After', String(waitSeconds(taken.waitMs)));
      return again({
        problems: { form: `Too many changes. Try again in ${waitText(taken.waitMs)}.` },
        status: 429,
      });
    }
    const refusal = await save(dependencies, visitor, typed);
    if (refusal !== undefined) return again(refusal);
    goTo(visitor, PATHS.profile, 'saved');
  },
});

const DONE = { saved: 'Your profile is saved.' };

const answer = (dependencies: Dependencies, visitor: Visitor, filled: Filled): void =>
  answerPage(visitor.response, profilePage({ ...viewOf(dependencies, visitor, DONE), ...filled }));

const problemsIn = (typed: { name: string; email: string }): ProfileView['problems'] => ({
  ...(!name.safeParse(typed.name).success && {
    name: 'Enter a name of at most 100 characters, on one line.',
  }),
  ...(!email.safeParse(typed.email).success && {
    email: 'Enter an e-mail address, such as name@example.com.',
  }),
});

const save = async (
  { pool, readProfile, gateway }: Dependencies,
  visitor: Visitor,
  typed: { readonly name: string; readonly email: string },
): Promise<Pick<Filled, 'problems' | 'status'> | undefined> => {
  const { userId } = visitor;
  const before = await readProfile(userId);
  const refusal = await gateway
    .send({ type: 'UpdateUser', userId, ...typed }, contextOf(visitor))
    .then(() => undefined, refusalOf);
  if (refusal !== undefined) return refusal;
  if (before.email === undefined || sameAddress(before.email) === sameAddress(typed.email)) return undefined;
  // The directory does the same later, and notifies the former address.
  await deleteResetsOf(pool, userId);
  return undefined;
};

const refusalOf = (error: unknown): Pick<Filled, 'problems' | 'status'> => {
  if (error instanceof Rejection && error.code === 'email_taken')
    return {
      problems: { email: 'Another account has this address. Use another one, or sign in to that account.' },
      status: 409,
    };
  // Auditors change nothing.
  if (error instanceof Rejection && error.code === 'forbidden')
    return {
      problems: { form: 'You may not change anything here: ask an administrator to change your profile.' },
      status: 403,
    };
  if (error instanceof CommandUnavailable || (error instanceof Rejection && error.code === 'conflict'))
    return {
      problems: { form: 'The changes may not have been saved. Check them, and save again.' },
      status: 503,
    };
  throw error;
};

type ProfileView = AccountView & {
  readonly name: string;
  readonly email: string;
  readonly problems: Problems<'name' | 'email'>;
};

const profilePage = ({ name, email, problems, ...view }: ProfileView): Page =>
  accountPage(view, {
    section: PATHS.profile,
    title: titleOf('Profile', problems),
    main: html`${summaryOf(problems)}
<h1>Profile</h1>
<form method="post" action="${PATHS.profile}" novalidate>
${hidden('token', view.token)}
${nameField({ value: name, problem: problems.name, hasFocus: !hasProblems(problems) && view.done === undefined })}
${emailField({ autocomplete: 'email', hint: 'You sign in with it, and links to reset your password go there. Nobody else sees it.', value: email, problem: problems.email })}
<div class="actions"><button class="primary" type="submit">Save</button></div>
</form>`,
  });
