import { Router } from 'express';
import type { RateLimits } from '#edge/rate-limit/rate-limit.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Config } from '#process/config.ts';
import type { CommandPart } from '../command/part.ts';
import { openVerifier } from './open-verifier.ts';
import { noteReceipts } from './receipts.ts';
import { type ReceiveDependencies, receiving } from './receive.ts';
import { openRefusalRecorder } from './record-refusals.ts';

/** The inbox: signed messages of the senders that the domain declares become commands. */
export const part: CommandPart = {
  async routesOf({ domain, gateway, rateLimits, metrics, pool, clock, log, config, resources }) {
    const router = Router();
    const recorder = resources.use(await openRefusalRecorder({ pool, clock, log }));
    const dependencies = {
      ...{ domain, gateway, clock },
      bodyBytesMax: config.limits.bodyBytesMax,
      note: noteReceipts({ metrics, log, recorder }),
      charge: chargeSender(rateLimits, config.rateLimits.client),
    };
    for (const sender of domain.senders ?? [])
      router.post(
        routeOf(sender.operation),
        ...receiving(dependencies, sender, await openVerifier(sender, config.ownSetting)),
      );
    return router;
  },
};

/** A verified sender has the limit of a client with a token. */
const chargeSender = (
  limits: RateLimits,
  { unitsPerSecond, burst }: Config['rateLimits']['client'],
): ReceiveDependencies['charge'] => {
  const limit = limits.of({ name: 'inbox', unitsPerSecond, burst });
  return async (sender) => {
    const { allowed, retryAfterMs } = await limit.take(sender, 1);
    if (allowed) return;
    throw new HttpProblem('rate_limited', {
      detail: `At most ${burst} messages at once, and ${unitsPerSecond} per second.`,
      headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) },
    });
  };
};
