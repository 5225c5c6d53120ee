import { randomBytes } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { Upstream } from '#process/upstreams.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { type Asked, askedOf, textOf } from '../accounts/interaction.ts';
import type { ShowAgain } from '../accounts/passkey-sign-in.ts';
import { afterFirstStep, type SecondStepDependencies } from '../accounts/second-step.ts';
import { type SignInLimits, waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import type { Tickets } from '../storage/tickets.ts';
import { type AdmitDependencies, admit } from './admit.ts';
import { loggedOf, notFresh, type Problem, problemOf, TOO_LATE } from './answers.ts';
import { SKEW_S } from './client.ts';
import { type Binding, type Connection, type Freshness, UpstreamFailed } from './connection.ts';
import { answerIn, returnPathOf, signInPathOf, signInState, ticketIn } from './return-paths.ts';

export type Configured = { readonly upstream: Upstream; readonly connection: Connection };

export type UpstreamDependencies = AdmitDependencies & {
  readonly configured: readonly Configured[];
  readonly tickets: Tickets;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowMs'>;
};

const RANDOM_BYTES = 32;
const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');
export const newSecrets = () => ({ nonce: random(), verifier: random() });

/** How recently the application that asks wants the person to have signed in. */
export const freshnessFor = ({ interaction: { params } }: Asked): Freshness => {
  if (textOf(params.prompt)?.split(' ').includes('login')) return 'now';
  return params.max_age === undefined ? 'any' : { maxAgeS: Number(params.max_age) };
};

type Steps = UpstreamDependencies & {
  readonly signingIn: SecondStepDependencies & { readonly limits: SignInLimits };
  readonly showAgain: ShowAgain;
};

export const upstreamSignInRoutes = (steps: Steps): Router => {
  const router = Router();
  for (const configured of steps.configured) {
    const begin = signInPathOf(':uid', configured.upstream.name);
    const answer = `${begin}/answer`;
    router
      .get(begin, (request, response) => goThere(steps, configured, { request, response }))
      .get(answer, (request, response) => comeBack(steps, configured, { request, response }))
      .all([begin, answer], refuseOtherMethods('GET', 'HEAD'));
  }
  return router;
};

type Exchange = { readonly request: Request; readonly response: Response };

const MS_PER_SECOND = 1_000;
const nowS = ({ clock }: Pick<UpstreamDependencies, 'clock'>): number =>
  Math.floor(clock.nowMs() / MS_PER_SECOND);

/** A link and no form: it changes nothing here, and the answer counts in this sign-in of this browser alone. */
const goThere = async (
  steps: Steps,
  { connection }: Configured,
  { request, response }: Exchange,
): Promise<void> => {
  const asked = await askedOf(steps.signingIn, 'login', request, response);
  const { uid } = asked.interaction;
  const { name, label } = connection;
  const secrets = newSecrets();
  const ticket = steps.tickets.issue('upstream sign-in', [uid, name], {
    ...secrets,
    startedS: String(nowS(steps)),
  });
  const binding: Binding = {
    ...secrets,
    redirectUri: `${steps.issuerUrl}${returnPathOf(name)}`,
    state: signInState(uid, ticket),
  };
  const target = await connection
    .begin(binding, freshnessFor(asked))
    .catch((error: unknown) => problemOf(error, label));
  if (!(target instanceof URL)) return again(steps, { response, asked }, target);
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }).redirect(303, target.href);
};

const again = (
  { showAgain }: Pick<Steps, 'showAgain'>,
  exchange: { readonly response: Response; readonly asked: Asked },
  { problem, status }: Problem,
): void => showAgain(exchange, problem, { status, isPasskeyOffered: true });

const comeBack = async (
  steps: Steps,
  { upstream, connection }: Configured,
  { request, response }: Exchange,
): Promise<void> => {
  const { tickets, signingIn, issuerUrl } = steps;
  const asked = await askedOf(signingIn, 'login', request, response);
  const { uid } = asked.interaction;
  const { name } = connection;
  const failed = (problem: Problem) => again(steps, { response, asked }, problem);
  // Each answer costs a request to the provider, which may block us for too many.
  const address = clientAddress(request);
  const admitted = await signingIn.limits.admitAddress(address);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    return failed({
      problem: `Too many attempts. Try again in ${waitText(admitted.waitMs)}.`,
      status: 429,
    });
  }
  const query = answerIn(request.query);
  const state = query.get('state') ?? '';
  const content = await tickets.use('upstream sign-in', [uid, name], ticketIn(state));
  if (content === undefined) return failed(TOO_LATE);
  const { nonce = '', verifier = '', startedS = '' } = content;
  const binding = { nonce, verifier, state, redirectUri: `${issuerUrl}${returnPathOf(name)}` };
  const known = await finishThere(steps, connection, { binding, query });
  if ('problem' in known) return failed(known);
  const freshness = freshnessFor(asked);
  const atS = known.authenticatedAtS;
  if (!isFreshEnough(freshness, { atS, startedS: Number(startedS), nowS: nowS(steps) }))
    return failed(notFresh(connection.label));
  const account = await admit(steps, {
    upstream,
    known,
    requestId: requestIdOf(request),
    trace: traceparentOf(request),
  });
  if (account.person === undefined) return failed(account);
  await signingIn.limits.succeededAt(address);
  return afterFirstStep(
    signingIn,
    { request, response, asked },
    { person: account.person, step: { by: 'fed', atS: Math.min(atS ?? UNKNOWN_S, nowS(steps)) } },
  );
};

/**
 * The time of a sign-in of which nobody knows when it was: too long ago for everything that needs a recent one. Zero
 * would mean now to oidc-provider.
 */
const UNKNOWN_S = 1;

type Times = { readonly atS: number | undefined; readonly startedS: number; readonly nowS: number };

const isFreshEnough = (freshness: Freshness, { atS, startedS, nowS }: Times): boolean => {
  if (freshness === 'any') return true;
  const oldestS = freshness === 'now' ? startedS : nowS - freshness.maxAgeS;
  return atS !== undefined && atS >= oldestS - SKEW_S;
};

/** Exchanges the code; the log says why it failed, without the answer. */
export const finishThere = async (
  { log }: Pick<UpstreamDependencies, 'log'>,
  connection: Connection,
  { binding, query }: { readonly binding: Binding; readonly query: URLSearchParams },
) =>
  connection.finish(binding, query).catch((error: unknown) => {
    if (error instanceof UpstreamFailed && error.reason !== 'cancelled')
      log.warn(
        { upstream: connection.name, ...loggedOf(error) },
        'An identity provider did not confirm a sign-in.',
      );
    return problemOf(error, connection.label);
  });
