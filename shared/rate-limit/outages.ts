import type { Log } from '#shared/log.ts';
import type { Arrivals, Charge, Charged } from './gcra.ts';
import { memoryArrivals } from './memory/arrivals.ts';

const ANSWER_TIMEOUT_MS = 1_000;
const TRY_AGAIN_MS = 1_000;

export type OutageOptions = { readonly log: Log; readonly answerTimeoutMs?: number; readonly tryAgainMs?: number };

/**
 * Fails open: while the engine does not answer, no request is refused or kept waiting for it. Each process then counts by
 * itself, so that whoever can disturb the engine has not thereby got rid of all limits.
 */
export const surviveOutages = (
  engine: Arrivals,
  { log, answerTimeoutMs = ANSWER_TIMEOUT_MS, tryAgainMs = TRY_AGAIN_MS }: OutageOptions,
): Arrivals => {
  const alone = memoryArrivals();
  let outage: { triedAtMs: number; isTrying: boolean } | undefined;
  const ask = (charge: Charge): Promise<Charged> => within(engine.charge(charge), answerTimeoutMs);

  const onFailure = (err: unknown): void => {
    if (outage === undefined) log.warn({ err }, 'Rate limits are not shared: their engine does not answer, and this process counts alone.');
    outage = { triedAtMs: performance.now(), isTrying: false };
  };
  const tryAgain = (charge: Charge): void => {
    if (outage === undefined || outage.isTrying || performance.now() - outage.triedAtMs < tryAgainMs) return;
    outage.isTrying = true;
    // Beside the request, which does not wait for it.
    ask(charge).then(() => {
      outage = undefined;
      log.info('Rate limits are shared again.');
    }, onFailure);
  };

  return {
    async charge(charge) {
      if (outage === undefined) {
        try {
          return await ask(charge);
        } catch (error) {
          onFailure(error);
        }
      } else tryAgain(charge);
      return alone.charge(charge);
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
};

const within = async <Answer>(answer: Promise<Answer>, timeoutMs: number): Promise<Answer> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};
