import * as z from 'zod';
import { day as dayField, email as emailField } from '#kernel/base/values.ts';
import { isAuditorRole, rolesOf } from '#kernel/registry/roles.ts';
import { untilProblem } from '#shared/persons/invited-until.ts';
import type { Allowance } from '../accounts/attempts.ts';
import { fieldsOf } from '../accounts/form.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { invitationMessage } from '../mail/messages.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { type InvitationsView, invitationsPage } from '../pages/account/invitations-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { invitationLink } from '../pages/invited-pages.ts';
import { EMAIL_MAX } from '../pages/parts/person-fields.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'domain' | 'tokens' | 'invitations' | 'attempts' | 'post' | 'issuerUrl' | 'clock'
>;

const ID_MAX = 50;
const DAY_MAX = 20;
const formOf = (domain: Dependencies['domain']) =>
  z.discriminatedUnion('do', [
    z.object({
      do: z.literal('invite'),
      email: z.string().max(EMAIL_MAX),
      role: z.enum(rolesOf(domain)),
      until: z.string().max(DAY_MAX).optional(),
    }),
    z.object({ do: z.literal('revoke'), id: z.string().max(ID_MAX) }),
  ]);

/** Limits mail to other people. */
export const PER_INVITER: Allowance = { name: 'invitations', burst: 100, intervalMs: 60_000 };

export const invitations = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.invitations,
  isForAdmins: true,
  isSensitive: true,
  show: (visitor) => answer(dependencies, visitor),
  async submit(visitor) {
    const form = fieldsOf(formOf(dependencies.domain), visitor.request);
    if (form.do === 'invite')
      return invite(dependencies, visitor, {
        ...{ email: form.email.trim(), role: form.role },
        until: isAuditorRole(dependencies.domain, form.role) ? form.until?.trim() || undefined : undefined,
      });
    await dependencies.invitations.revoke(form.id, securityContextOf(visitor));
    goTo(visitor, PATHS.invitations, 'revoked');
  },
});

const DONE = { revoked: 'The invitation was revoked.' };

type Filled = Partial<Pick<InvitationsView, 'email' | 'role' | 'until' | 'problems' | 'made' | 'status'>>;

const answer = async (dependencies: Dependencies, visitor: Visitor, filled: Filled = {}): Promise<void> => {
  const shown = (await dependencies.invitations.list()).map((invitation) => ({
    ...invitation,
    isOver: invitation.expiresAt < new Date(),
  }));
  const { domain } = dependencies;
  const view = { domain, email: '', role: domain.signUp, problems: {}, ...filled };
  answerPage(
    visitor.response,
    invitationsPage({ ...viewOf(dependencies, visitor, DONE), ...view, invitations: shown }),
  );
};

const invite = async (
  dependencies: Dependencies,
  visitor: Visitor,
  wanted: { email: string; role: InvitationsView['role']; until: string | undefined },
): Promise<void> => {
  const { attempts, post, issuerUrl } = dependencies;
  const again = (problems: InvitationsView['problems'], status: number) =>
    answer(dependencies, visitor, { ...wanted, problems, status });
  if (!emailField.safeParse(wanted.email).success)
    return again({ email: 'Enter an e-mail address, such as name@example.com.' }, 422);
  const { until } = wanted;
  if (until !== undefined && !dayField.safeParse(until).success)
    return again({ until: 'Enter a day, such as 2027-03-31.' }, 422);
  const wrong = untilProblem(dependencies.domain, wanted, dependencies.clock.nowMs());
  if (wrong !== undefined) return again({ until: wrong }, 422);
  const taken = await attempts.take(PER_INVITER, String(visitor.userId));
  if (!taken.granted) {
    visitor.response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    return again({ form: `Too many invitations. Try again in ${waitText(taken.waitMs)}.` }, 429);
  }
  const made = await dependencies.invitations.make(wanted, securityContextOf(visitor));
  if (made === undefined) return again({ email: 'This address already has an account.' }, 409);
  const link = invitationLink(issuerUrl, made);
  post.send(async () => invitationMessage({ to: wanted.email, link }));
  // Not by a redirect: only this answer contains the link.
  return answer(dependencies, visitor, { made: { email: wanted.email, link, isMailed: post.isThere } });
};
