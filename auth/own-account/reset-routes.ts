import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { Allowance } from '../accounts/attempts.ts';
import { fieldsOf, formToken, readForm } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { passwordProblem } from '../accounts/sign-up-form.ts';
import { passwordChangedMessage, resetMessage } from '../mail/messages.ts';
import { answerPage } from '../pages/answer-page.ts';
import { FORGED } from '../pages/message-page.ts';
import type { Problems } from '../pages/parts/field.ts';
import { EMAIL_MAX, PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import {
  askResetPage,
  chooseResetPage,
  NEW_PASSWORD_PATH,
  noMailPage,
  RESET_PATH,
  resetAskedPage,
  resetDonePage,
  resetLinkOverPage,
} from '../pages/reset-pages.ts';
import type { OwnAccountDependencies } from './dependencies.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'tokens' | 'cookie' | 'attempts' | 'emailHash' | 'persons' | 'readProfile' | 'resets' | 'post' | 'issuerUrl'
>;

/** Counts the typed address, whether or not there is such an account. */
const PER_ACCOUNT: Allowance = { name: 'reset-account', burst: 5, intervalMs: 600_000 };
const PER_ADDRESS: Allowance = { name: 'reset-address', burst: 20, intervalMs: 60_000 };
/** Nobody guesses a link; this limits the estimates and hashes that strangers can cause. */
const USES_PER_ADDRESS: Allowance = { name: 'reset-use-address', burst: 30, intervalMs: 30_000 };

const LINK_MAX = 100;
const Ask = z.object({ token: formToken, email: z.string().max(EMAIL_MAX) });
const Choose = z.object({
  token: formToken,
  link: z.string().max(LINK_MAX),
  password: z.string().max(PASSWORD_MAX),
});

const DONE_PATH = `${RESET_PATH}/done`;
const ASKED_PATH = `${RESET_PATH}/asked`;

export const resetLink = (issuerUrl: string, link: string): string =>
  `${issuerUrl}${NEW_PASSWORD_PATH}?link=${link}`;

/** Lets a person set a password if they have forgotten theirs or have none yet. */
export const resetRoutes = (dependencies: Dependencies): Router =>
  Router()
    .get(RESET_PATH, (request, response) => showAsk(dependencies, request, response))
    .post(RESET_PATH, ...readForm, (request, response) => ask(dependencies, request, response))
    .get(ASKED_PATH, (_request, response) => answerPage(response, resetAskedPage))
    .get(NEW_PASSWORD_PATH, async (request, response) => {
      const { link } = request.query;
      if (typeof link !== 'string' || (await dependencies.resets.find(link)) === undefined)
        throw new PageRefusal(resetLinkOverPage);
      showChoose(dependencies, { request, response }, { link, problems: {} });
    })
    .post(NEW_PASSWORD_PATH, ...readForm, (request, response) => choose(dependencies, request, response))
    .get(DONE_PATH, (_request, response) => answerPage(response, resetDonePage))
    .all([RESET_PATH, NEW_PASSWORD_PATH], refuseOtherMethods('GET', 'HEAD', 'POST'))
    .all([ASKED_PATH, DONE_PATH], refuseOtherMethods('GET', 'HEAD'));

type Exchange = { readonly request: Request; readonly response: Response };

const showAsk = (
  { tokens, cookie, post }: Dependencies,
  request: Request,
  response: Response,
  filled: { email?: string; problems?: Problems<'email'>; status?: number } = {},
): void => {
  const token = tokens.issue('reset', [cookie.settle(request, response)]);
  answerPage(
    response,
    post.isThere ? askResetPage({ email: '', problems: {}, ...filled, token }) : noMailPage,
  );
};

const demandToken = ({ tokens, cookie }: Dependencies, request: Request, token: string): void => {
  const known = cookie.read(request);
  if (known === undefined || !tokens.verify(token, 'reset', [known])) throw new PageRefusal(FORGED);
};

const ask = async (dependencies: Dependencies, request: Request, response: Response): Promise<void> => {
  const form = fieldsOf(Ask, request);
  demandToken(dependencies, request, form.token);
  const { attempts, emailHash, post } = dependencies;
  const email = form.email.trim();
  const again = (problems: Problems<'email'>, status: number) =>
    showAsk(dependencies, request, response, { email, problems, status });
  if (!post.isThere) return answerPage(response, noMailPage);
  if (email === '') return again({ email: 'Enter your e-mail address.' }, 422);
  const counted = [
    [PER_ADDRESS, clientAddress(request)],
    [PER_ACCOUNT, emailHash(email)],
  ] as const;
  for (const [allowance, subject] of counted) {
    const taken = await attempts.take(allowance, subject);
    if (taken.granted) continue;
    response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    return again({ form: `Too many links were requested. Try again in ${waitText(taken.waitMs)}.` }, 429);
  }
  const requestId = requestIdOf(request);
  // After the answer, so that its timing does not reveal whether there is an account.
  post.send(() => messageFor(dependencies, email, requestId));
  response.redirect(303, ASKED_PATH);
};

/** Sends to the account's own address, not the typed one: another spelling may be somebody else's. */
const messageFor = async (
  { persons, readProfile, resets, issuerUrl }: Dependencies,
  typed: string,
  requestId: string,
) => {
  const person = await persons.byEmail(typed);
  if (person?.status !== 'active') return undefined;
  const { name, email } = await readProfile(person.userId);
  if (email === undefined) return undefined;
  const link = await resets.make(person.userId, { actor: 'anonymous', client: null, requestId });
  return resetMessage({ to: email, name, link: resetLink(issuerUrl, link) });
};

const showChoose = (
  { tokens, cookie }: Dependencies,
  { request, response }: Exchange,
  filled: { link: string; problems: Problems<'password'>; status?: number },
): void =>
  answerPage(
    response,
    chooseResetPage({ ...filled, token: tokens.issue('reset', [cookie.settle(request, response)]) }),
  );

const choose = async (dependencies: Dependencies, request: Request, response: Response): Promise<void> => {
  const { resets, attempts, readProfile, post, issuerUrl } = dependencies;
  const { token, link, password } = fieldsOf(Choose, request);
  demandToken(dependencies, request, token);
  const again = (problems: Problems<'password'>, status: number) =>
    showChoose(dependencies, { request, response }, { link, problems, status });
  const userId = await resets.find(link);
  if (userId === undefined) throw new PageRefusal(resetLinkOverPage);
  const taken = await attempts.take(USES_PER_ADDRESS, clientAddress(request));
  if (!taken.granted) {
    response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    return again({ form: `Too many attempts. Try again in ${waitText(taken.waitMs)}.` }, 429);
  }
  const { name, email } = await readProfile(userId);
  const isWeak = await passwordProblem({ name: name ?? '', email: email ?? '', password });
  if (isWeak !== undefined) return again({ password: isWeak }, 422);
  if (!(await resets.use(link, password, requestIdOf(request)))) throw new PageRefusal(resetLinkOverPage);
  if (email !== undefined)
    post.send(async () => passwordChangedMessage({ to: email, name, accountUrl: `${issuerUrl}/account` }));
  response.redirect(303, DONE_PATH);
};
