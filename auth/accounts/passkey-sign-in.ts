import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { Persons } from '../directory.ts';
import { passkeyScript } from '../pages/page-script.ts';
import type { PasskeyForm } from '../pages/parts/passkey-form.ts';
import { authenticationOptions, CREDENTIAL_MAX, isOffered, relyingPartyOf } from '../passkeys/ceremony.ts';
import { newChallenge, type Passkeys } from '../passkeys/passkeys.ts';
import { TICKET_MAX, type Tickets } from '../storage/tickets.ts';
import { fieldsOf, readForm } from './form.ts';
import { type Asked, askedOf } from './interaction.ts';
import { type SignInLimits, waitSeconds, waitText } from './sign-in-limits.ts';
import { finishSignIn, type SignInFinish } from './sign-in-outcome.ts';

export type PasskeyDependencies = SignInFinish & {
  readonly persons: Pick<Persons, 'byId'>;
  readonly passkeys: Pick<Passkeys, 'holderOf'>;
  readonly tickets: Tickets;
  readonly limits: SignInLimits;
};

/** Shows the sign-in page again with an error. */
export type ShowAgain = (
  exchange: { response: Response; asked: Asked },
  problem: string,
  wrong: { status: number; isPasskeyOffered?: boolean },
) => void;

const Signed = z.object({ ticket: z.string().max(TICKET_MAX), credential: z.string().max(CREDENTIAL_MAX) });

/** The form for the sign-in page, the same for every visitor. Undefined if passkeys are not possible. */
export const passkeyFormFor = (
  { tickets, issuerUrl }: PasskeyDependencies,
  { interaction }: Asked,
): PasskeyForm | undefined => {
  if (!isOffered(issuerUrl)) return undefined;
  const { uid } = interaction;
  const challenge = newChallenge();
  return {
    action: `/sign-in/${uid}/passkey`,
    ticket: tickets.issue('passkey', [uid], { challenge }),
    options: authenticationOptions(relyingPartyOf(issuerUrl), challenge),
    scriptUrl: passkeyScript.url(issuerUrl),
  };
};

export const passkeySignInRoutes = (dependencies: PasskeyDependencies, showAgain: ShowAgain): Router =>
  Router()
    .get('/sign-in/:uid/passkey', ({ params: { uid } }, response) =>
      response.redirect(303, `/sign-in/${uid}`),
    )
    .post('/sign-in/:uid/passkey', ...readForm, (request, response) =>
      submit(dependencies, { request, response }, showAgain),
    )
    .all('/sign-in/:uid/passkey', refuseOtherMethods('GET', 'HEAD', 'POST'));

/** A passkey proves both the device and the person (user verification), so no second factor is asked for. */
const submit = async (
  dependencies: PasskeyDependencies,
  { request, response }: { readonly request: Request; readonly response: Response },
  showAgain: ShowAgain,
): Promise<void> => {
  const { tickets, passkeys, persons, limits } = dependencies;
  const { ticket, credential } = fieldsOf(Signed, request);
  const asked = await askedOf(dependencies, 'login', request, response);
  const address = clientAddress(request);
  const admitted = await limits.admitAddress(address);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    return showAgain({ response, asked }, `Too many attempts. Try again in ${waitText(admitted.waitMs)}.`, {
      status: 429,
    });
  }
  const content = await tickets.use('passkey', [asked.interaction.uid], ticket);
  if (content?.challenge === undefined)
    return showAgain({ response, asked }, TOO_LATE, { status: 422, isPasskeyOffered: true });
  const by = { client: asked.client?.clientId ?? null, requestId: requestIdOf(request) };
  const holder = await passkeys.holderOf({ credential, challenge: content.challenge }, by);
  const person = holder && (await persons.byId(holder.userId));
  if (holder === undefined || person?.status !== 'active')
    return showAgain({ response, asked }, UNKNOWN, { status: 422 });
  await limits.succeededAt(address);
  return finishSignIn(
    dependencies,
    { request, response },
    { person, amr: [holder.isSynced ? 'swk' : 'hwk', 'user', 'mfa'] },
  );
};

const TOO_LATE = 'This took too long. Try again.';
const UNKNOWN = 'This passkey belongs to no account here. Use another one, or your password.';
