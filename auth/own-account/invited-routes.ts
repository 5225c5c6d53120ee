import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { Allowance } from '../accounts/attempts.ts';
import { fieldsOf, formToken, readForm } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { problemsIn } from '../accounts/sign-up-form.ts';
import { answerPage } from '../pages/answer-page.ts';
import { INVITED_PATH, invitationOverPage, invitedDonePage, invitedPage } from '../pages/invited-pages.ts';
import { FORGED } from '../pages/message-page.ts';
import { hasProblems, type Problems } from '../pages/parts/field.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import type { OwnAccountDependencies } from './dependencies.ts';

type Dependencies = Pick<OwnAccountDependencies, 'tokens' | 'cookie' | 'attempts' | 'invitations'>;

const LINK_MAX = 100;
const NAME_UNITS_MAX = 200;
const Accept = z.object({
  token: formToken,
  link: z.string().max(LINK_MAX),
  name: z.string().max(NAME_UNITS_MAX),
  password: z.string().max(PASSWORD_MAX),
});

const PER_ADDRESS: Allowance = { name: 'invited-address', burst: 30, intervalMs: 30_000 };
const DONE_PATH = `${INVITED_PATH}/done`;

/** Lets an invited person create their account, even if sign-up is closed. */
export const invitedRoutes = (dependencies: Dependencies): Router =>
  Router()
    .get(INVITED_PATH, async (request, response) => {
      const { link } = request.query;
      if (typeof link !== 'string') throw new PageRefusal(invitationOverPage);
      await show(dependencies, { request, response }, { link, name: '', problems: {} });
    })
    .post(INVITED_PATH, ...readForm, (request, response) => accept(dependencies, request, response))
    .get(DONE_PATH, (_request, response) => answerPage(response, invitedDonePage))
    .all(INVITED_PATH, refuseOtherMethods('GET', 'HEAD', 'POST'))
    .all(DONE_PATH, refuseOtherMethods('GET', 'HEAD'));

type Exchange = { readonly request: Request; readonly response: Response };
type Filled = {
  readonly link: string;
  readonly name: string;
  readonly problems: Problems<'name' | 'password'>;
  readonly status?: number;
};

const show = async (
  { tokens, cookie, invitations }: Dependencies,
  { request, response }: Exchange,
  filled: Filled,
): Promise<void> => {
  const invitation = await invitations.find(filled.link);
  if (invitation === undefined) throw new PageRefusal(invitationOverPage);
  const token = tokens.issue('invited', [cookie.settle(request, response)]);
  answerPage(response, invitedPage({ ...filled, token, email: invitation.email }));
};

const accept = async (dependencies: Dependencies, request: Request, response: Response): Promise<void> => {
  const { tokens, cookie, attempts, invitations } = dependencies;
  const { token, link, ...typed } = fieldsOf(Accept, request);
  const known = cookie.read(request);
  if (known === undefined || !tokens.verify(token, 'invited', [known])) throw new PageRefusal(FORGED);
  const invitation = await invitations.find(link);
  if (invitation === undefined) throw new PageRefusal(invitationOverPage);
  const guest = { ...typed, name: typed.name.trim() };
  const again = (problems: Filled['problems'], status: number) =>
    show(dependencies, { request, response }, { link, name: guest.name, problems, status });
  const taken = await attempts.take(PER_ADDRESS, clientAddress(request));
  if (!taken.granted) {
    response.set('Retry-After', String(waitSeconds(taken.waitMs)));
    return again({ form: `Too many attempts. Try again in ${waitText(taken.waitMs)}.` }, 429);
  }
  const problems = await problemsIn({ ...guest, email: invitation.email });
  if (hasProblems(problems)) return again(problems, 422);
  const { outcome } = await invitations.accept(invitation, {
    ...guest,
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
  });
  if (outcome === 'done') return response.redirect(303, DONE_PATH);
  return again({ form: ANSWERS[outcome].text }, ANSWERS[outcome].status);
};

const ANSWERS = {
  taken: { text: 'This address already has an account. Sign in with it.', status: 409 },
  repeated: {
    text: 'This form was already sent. Sign in with the address and password that you entered then.',
    status: 409,
  },
  busy: {
    text: 'The account may not have been created yet. Send the form again: you will not get two accounts.',
    status: 503,
  },
} as const;
