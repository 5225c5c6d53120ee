import type { IncomingMessage } from 'node:http';
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import type { RateLimit, RateLimits, RatePolicy, Taken } from '#edge/rate-limit/rate-limit.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type Caller, limitedClient } from '#shared/policy.ts';
import { Counter, type Registry } from '#shared/prometheus.ts';
import { clientAddress } from './client-address.ts';
import { problemOf } from './problem.ts';
import { requestFact } from './request-fact.ts';

/** Identifies the caller of each request. If the handler fails, the caller is unknown. */
export type Authentication = { readonly handler: RequestHandler; callerOf(request: IncomingMessage): Caller };

type RateLimitOptions = {
  readonly limits: RateLimits;
  /** For callers with a verified token, per user and client. */
  readonly client: RatePolicy;
  /** For addresses. */
  readonly anonymous: RatePolicy;
  readonly metrics: Registry;
  /** Without it every caller is anonymous. */
  readonly authentication?: Authentication | undefined;
};

type Account = {
  readonly limit: RateLimit;
  readonly key: string;
  readonly policyField: string;
  readonly requests: Requests;
};

const SERVER_ERROR = 500;

const accounts = requestFact<Account>('account');

/**
 * Takes one unit for every request, or refuses it (429). Tokens are checked before, so that each client has
 * its own limit. A request with an invalid token is charged to its address, or guessing would be free. A
 * request that fails for a reason of ours before its caller is known, such as overload, costs nobody
 * anything: its token may be valid.
 */
export const limitRate = (options: RateLimitOptions): Router => {
  const { handlers, onFailure } = rateLimiter(options);
  return Router().use(...handlers, onFailure);
};

type RateLimiter = {
  readonly handlers: readonly RequestHandler[];
  readonly onFailure: ErrorRequestHandler;
};

/** The handlers of `limitRate`, for use apart. */
export const rateLimiter = ({
  limits,
  client,
  anonymous,
  metrics,
  authentication,
}: RateLimitOptions): RateLimiter => {
  const requests = requestsIn(metrics);
  const [ofClients, ofAddresses] = [client, anonymous].map((policy) => {
    const limit = limits.of(policy);
    const policyField = policyFieldOf(limit);
    return (key: string): Account => ({ limit, key, policyField, requests });
  }) as [AccountOf, AccountOf];
  const ofAddress = (request: Request): Account => ofAddresses(clientAddress(request));
  const accountOf = (request: Request): Account => {
    const caller = authentication?.callerOf(request);
    return caller?.kind === 'user'
      ? ofClients(`${caller.userId} ${limitedClient(caller.client)}`)
      : ofAddress(request);
  };
  const chargeRequest: RequestHandler = (request, response, next) => {
    accounts.set(request, accountOf(request));
    const taking = takeUnits(request, response, 1);
    return taking === undefined ? next() : taking.then(() => next());
  };
  const chargeFailure: ErrorRequestHandler = async (error: unknown, request, response, next) => {
    if (accounts.of(request) === undefined && problemOf(error).status < SERVER_ERROR) {
      accounts.set(request, ofAddress(request));
      await takeMore(request, response, 1);
    }
    next(error);
  };
  return {
    handlers: [...(authentication === undefined ? [] : [authentication.handler]), chargeRequest],
    onFailure: chargeFailure,
  };
};

type AccountOf = (key: string) => Account;

/** For a request that costs more than the one unit it was charged; throws if that exceeds the limit. */
export const takeMore = async (request: IncomingMessage, response: Response, units: number): Promise<void> =>
  takeUnits(request, response, units);

/** Returns undefined, rather than a promise, if this process counts by itself. */
const takeUnits = (
  request: IncomingMessage,
  response: Response,
  units: number,
): Promise<void> | undefined => {
  const account = accounts.of(request);
  // Some listeners do not limit.
  if (account === undefined) return undefined;
  const taken = account.limit.take(account.key, units);
  if (taken instanceof Promise) return taken.then((later) => reportTaken(response, account, later, units));
  reportTaken(response, account, taken, units);
  return undefined;
};

const reportTaken = (
  response: Response,
  { limit: { policy }, policyField, requests }: Account,
  taken: Taken,
  units: number,
): void => {
  response.setHeader('RateLimit', limitFieldOf(policy, taken));
  response.setHeader('RateLimit-Policy', policyField);
  requests.inc({ policy: policy.name, outcome: taken.allowed ? 'allowed' : 'refused' });
  if (!taken.allowed) throw refusalOf(policy, taken, units);
};

const refusalOf = (
  { burst, unitsPerSecond }: RatePolicy,
  { retryAfterMs }: Taken,
  units: number,
): HttpProblem =>
  Number.isFinite(retryAfterMs)
    ? new HttpProblem('rate_limited', {
        detail: `At most ${burst} units at once, and ${unitsPerSecond} per second.`,
        headers: { 'Retry-After': String(secondsOf(retryAfterMs)) },
      })
    : new HttpProblem('rate_limited', {
        detail: `This costs ${units} units, and at most ${burst} are given at once: ask for less.`,
      });

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-10. The policy states the burst and the time to refill
 * it: a client that never takes more than `q` in any `w` seconds is never refused, because n consecutive
 * windows hold at most q + rate · (n-1) · w. `t` is when there will be more than `r`, not when the burst is
 * full again.
 */
const limitFieldOf = ({ name }: RatePolicy, { remaining, refillMs }: Taken): string =>
  `"${name}";r=${remaining}${refillMs > 0 ? `;t=${secondsOf(refillMs)}` : ''}`;

const policyFieldOf = ({ policy: { name, burst }, windowMs }: RateLimit): string =>
  `"${name}";q=${burst};w=${secondsOf(windowMs)}`;

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

type Requests = Counter<'policy' | 'outcome'>;

const NAME = 'annals_rate_limit_requests_total';

const requestsIn = (registry: Registry): Requests =>
  (registry.getSingleMetric(NAME) as Requests | undefined) ??
  new Counter({
    name: NAME,
    help: 'Requests checked against a rate limit, by policy and outcome.',
    labelNames: ['policy', 'outcome'],
    registers: [registry],
  });
