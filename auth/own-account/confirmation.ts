import * as z from 'zod';
import type { Allowance } from '../accounts/attempts.ts';
import { confirm, mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { confirmAddressMessage } from '../mail/messages.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { type ConfirmationView, confirmationPage } from '../pages/account/confirmation-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { TICKET_MAX } from '../storage/tickets.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import type { Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'pool' | 'post' | 'tokens' | 'tickets' | 'attempts' | 'readProfile' | 'emailHash' | 'issuerUrl'
>;

const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('send') }),
  z.object({ do: z.literal('confirm'), link: z.string().max(TICKET_MAX) }),
]);

const PER_ACCOUNT: Allowance = { name: 'confirm-account', burst: 5, intervalMs: 600_000 };

/**
 * Confirms that the owner reads mail to the account's address. The link works only in a session of that
 * account, so the owner of an address cannot confirm a stranger's account by a click.
 */
export const confirmation = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.confirmation,
  hasLink: true,
  async show(visitor) {
    const { link } = visitor.request.query;
    await ifOpen(dependencies, visitor, (email) =>
      show(dependencies, visitor, { email, link: typeof link === 'string' ? link : undefined }),
    );
  },
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    await ifOpen(dependencies, visitor, (email) =>
      form.do === 'send'
        ? send(dependencies, visitor, email)
        : take(dependencies, visitor, { email, link: form.link }),
    );
  },
});

/** Only for an unconfirmed address. */
const ifOpen = async (
  dependencies: Dependencies,
  visitor: Visitor,
  answer: (email: string) => Promise<void> | void,
): Promise<void> => {
  if (!(await mustConfirm(dependencies, visitor.userId))) return goTo(visitor, PATHS.security);
  const { email } = await dependencies.readProfile(visitor.userId);
  return email === undefined ? goTo(visitor, PATHS.profile) : answer(email);
};

/** The link becomes invalid when the address changes. */
const boundTo = ({ emailHash }: Dependencies, { userId }: Visitor, email: string): readonly string[] => [
  String(userId),
  emailHash(email),
];

type Linked = { readonly email: string; readonly link: string | undefined };

const show = (dependencies: Dependencies, visitor: Visitor, { email, link }: Linked): void => {
  const isOver =
    link !== undefined &&
    dependencies.tickets.open('confirm address', boundTo(dependencies, visitor, email), link) === undefined;
  answer(
    dependencies,
    visitor,
    isOver ? { email, link: undefined, problem: OVER, status: 410 } : { email, link },
  );
};

const answer = (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<ConfirmationView, 'email' | 'link' | 'problem' | 'status'>,
): void =>
  answerPage(visitor.response, confirmationPage({ ...viewOf(dependencies, visitor, DONE), ...filled }));

const DONE = {
  sent: 'A message is on its way. If nothing arrives within a few minutes, check your spam folder, or send another one.',
};
const OVER =
  'This link is no longer valid: it was used, is older than a day, or belongs to another account. Send another one.';

const send = async (dependencies: Dependencies, visitor: Visitor, email: string): Promise<void> => {
  const { attempts, tickets, post, readProfile, issuerUrl } = dependencies;
  const taken = await attempts.take(PER_ACCOUNT, String(visitor.userId));
  if (!taken.granted) {
    visitor.response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    const problem = `Too many messages were requested. Try again in ${waitText(taken.waitMs)}.`;
    return answer(dependencies, visitor, { email, link: undefined, problem, status: 429 });
  }
  const link = tickets.issue('confirm address', boundTo(dependencies, visitor, email), {});
  post.send(async () => {
    const { name } = await readProfile(visitor.userId);
    return confirmAddressMessage({ to: email, name, link: `${issuerUrl}${PATHS.confirmation}?link=${link}` });
  });
  goTo(visitor, PATHS.confirmation, 'sent');
};

const take = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { email, link }: Linked & { readonly link: string },
): Promise<void> => {
  const content = await dependencies.tickets.use(
    'confirm address',
    boundTo(dependencies, visitor, email),
    link,
  );
  if (content === undefined)
    return answer(dependencies, visitor, { email, link: undefined, problem: OVER, status: 410 });
  await confirm(dependencies.pool, { userId: visitor.userId, emailHash: dependencies.emailHash(email) });
  goTo(visitor, PATHS.security, 'confirmed');
};
