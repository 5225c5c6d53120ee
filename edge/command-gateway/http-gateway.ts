// Over 200 lines, because it is one gateway: commands to replicas of other roles, with addresses and
// failures.
import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import * as z from 'zod';
import { MAY_MOVE, MOVED } from '#edge/http/drain-redirect.ts';
import { parked } from '#edge/http/parked.ts';
import { statusOf } from '#edge/http/problem.ts';
import type { EventId, Version } from '#kernel/base/brands.ts';
import type { Cursor } from '#kernel/base/cursor.ts';
import { isRejectionCode, Rejection } from '#kernel/base/rejection.ts';
import { HTTP_PROBLEMS } from '#kernel/base/rest/http-problem.ts';
import type { Clock } from '#shared/clock/clock.ts';
import {
  type CommandContext,
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import { signAssertion } from './assertion.ts';
import { CommandAnswer, TAKES_WITHHELD } from './wire.ts';

type HttpGatewayOptions = {
  /** The internal addresses of the replicas of the command role; a name may stand for several of them. */
  readonly urls: readonly string[];
  readonly key: Buffer;
  /** The role that sends. */
  readonly issuer: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly lookup?: Lookup;
};

type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

const TIMEOUT_MS = 15_000;
/** The replicas are close: one without a connection by then is down, and the next is tried. */
const CONNECT_MS = 1_000;
/** The time to look for an available replica, during a rolling restart. */
const REFUSED_MAX_MS = 3_000;
const ROUND_PAUSE_MS = 50;
/** The time until a new replica behind a name is found, and a removed one forgotten. */
const LOOKUP_AGAIN_MS = 2_000;

/** The gateway of a role that runs apart from the command role. */
export const createHttpGateway = ({
  urls,
  key,
  issuer,
  clock,
  timeoutMs = TIMEOUT_MS,
  lookup = lookupAll,
}: HttpGatewayOptions): CommandGateway => {
  const post = createPost(findCopies(urls, { lookup, clock }), clock);
  return {
    async send(command, { caller, trace, ...context }: CommandContext): Promise<CommandResult> {
      const body = JSON.stringify({ command, ...context });
      const assertion = await signAssertion(key, { caller, issuer, body });
      const response = await post({
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${assertion}`,
          'x-request-id': context.requestId,
          [TAKES_WITHHELD]: 'yes',
          ...(trace !== undefined && { traceparent: trace }),
        },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((cause: unknown) => {
        throw new CommandUnavailable('the command role did not answer', { cause });
      });
      return readAnswer(response);
    },
  };
};

/**
 * Tries the next replica if one cannot be reached, because nothing was sent then, or if one is stopping and
 * has done nothing. After any other failure the command may have been carried out, so it is not sent again,
 * but later commands go to the next replica.
 */
const createPost = (findAll: () => Promise<readonly Copy[]>, clock: Clock) => {
  let turn = 0;
  return async (
    request: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> => {
    const retriesEndAtMs = clock.elapsedMs() + REFUSED_MAX_MS;
    for (let tried = 1; ; tried += 1) {
      const copies = await findAll();
      // If all of them are stopping, one still does it.
      const headers = tried < copies.length ? { ...request.headers, [MAY_MOVE]: 'yes' } : request.headers;
      const current = turn;
      const goOn = (): void => {
        // Others may have moved on meanwhile.
        if (turn === current) turn += 1;
      };
      const { url, dispatcher } = copies[current % copies.length] as Copy;
      try {
        const response = await fetch(new URL('/commands', url), { ...request, headers, dispatcher });
        if (response.status !== MOVED || tried >= copies.length) return response;
        await response.body?.cancel();
      } catch (error) {
        goOn();
        if (!isUnconnected(error) || clock.elapsedMs() > retriesEndAtMs) throw error;
      }
      goOn();
      if (tried % copies.length === 0) await clock.sleep(ROUND_PAUSE_MS);
    }
  };
};

type Copy = { readonly url: string; readonly dispatcher: Agent };

const lookupAll: Lookup = (hostname) => dns.lookup(hostname, { all: true });

/**
 * Each address of each name is a replica of its own, so that one that stops can be distinguished from the others
 * behind its name.
 */
const findCopies = (
  urls: readonly string[],
  { lookup, clock }: { readonly lookup: Lookup; readonly clock: Clock },
): (() => Promise<readonly Copy[]>) => {
  const names = urls.map((url) => ({
    url,
    hostname: new URL(url).hostname.replace(/^\[|\]$/g, ''),
    addresses: new Map<string, Agent>(),
  }));
  // An unknown name may be known later; connecting to it reports the failure.
  const byName = new Agent({ connect: { timeout: CONNECT_MS } });
  const copiesOf = async ({ url, hostname, addresses }: (typeof names)[number]): Promise<readonly Copy[]> => {
    // If the look-up fails, the known addresses stay.
    const found = await lookup(hostname).catch(() =>
      [...addresses.keys()].map((address) => ({ address, family: isIP(address) })),
    );
    for (const [address, agent] of addresses) {
      if (found.some((each) => each.address === address)) continue;
      addresses.delete(address);
      // Requests under way there end in order.
      void agent.close();
    }
    for (const each of found) if (!addresses.has(each.address)) addresses.set(each.address, agentOf(each));
    return addresses.size === 0
      ? [{ url, dispatcher: byName }]
      : [...addresses.values()].map((dispatcher) => ({ url, dispatcher }));
  };
  const findAll = async (): Promise<readonly Copy[]> => (await Promise.all(names.map(copiesOf))).flat();
  let [known, sinceMs] = [findAll(), clock.elapsedMs()];
  return () => {
    if (clock.elapsedMs() - sinceMs > LOOKUP_AGAIN_MS) {
      sinceMs = clock.elapsedMs();
      // Nobody waits for it; callers use the previous replicas meanwhile.
      const latest = findAll();
      void latest.then(() => {
        known = latest;
      });
    }
    return known;
  };
};

/** The name stays in the request and in TLS; the connection leads to this one of its addresses. */
const agentOf = (address: LookupAddress): Agent =>
  new Agent({
    connect: { timeout: CONNECT_MS, lookup: (_hostname, _options, done) => done(null, [address]) },
  });

type Failure = { readonly code?: unknown; readonly syscall?: unknown; readonly errors?: readonly Failure[] };

/** No connection in time, or the address was removed from its name meanwhile. */
const UNSENT: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

/** A name may stand for several addresses, each with an error of its own. */
const isUnconnected = (error: unknown): boolean => {
  const { cause } = error as { readonly cause?: Failure };
  if (UNSENT.has(cause?.code)) return true;
  return (cause?.errors ?? [cause]).every(
    (each) => each?.syscall === 'connect' || each?.syscall === 'getaddrinfo',
  );
};

const Refusal = z.object({
  code: z.string(),
  title: z.string().optional(),
  detail: z.string().optional(),
  details: z.record(z.string(), z.json()).optional(),
});

const ACCEPTED = 202;

const readAnswer = async (response: Response): Promise<CommandResult> => {
  const answer: unknown = await response.json().catch((cause: unknown) => {
    throw new CommandUnavailable(`the command role answered ${response.status} without JSON`, { cause });
  });
  // A request of an agent is recorded, but it is no result of the command.
  if (response.ok && response.status !== ACCEPTED) {
    const parsed = CommandAnswer.safeParse(answer);
    if (!parsed.success)
      throw new CommandUnavailable('the command role sent an invalid response', { cause: parsed.error });
    const { version, cursor, eventId, ...same } = parsed.data;
    const named = eventId !== undefined && { eventId: eventId as EventId };
    return { ...same, version: version as Version, cursor: cursor as Cursor, ...named };
  }
  const refusal = Refusal.safeParse(answer);
  if (refusal.success) {
    const { code, title, detail, details } = refusal.data;
    if (code === 'parked') throw parked(undefined, detail);
    if (isRejectionCode(code) && !Object.hasOwn(HTTP_PROBLEMS, code) && statusOf(code) === response.status)
      throw new Rejection(code, details, { says: title });
  }
  throw new CommandUnavailable(`the command role answered ${response.status}`);
};
