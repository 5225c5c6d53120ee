import { plural, spanText } from '#shared/format.ts';
import type { Attempt } from '#shared/rest/deliveries.ts';
import type { Webhook } from '#shared/rest/webhook.ts';

/** The condition of an endpoint in a word and a sentence, with advice. */
export type Condition = {
  readonly tone: 'good' | 'bad' | 'warn' | 'plain';
  readonly word: string;
  readonly says: string;
  readonly advice?: string | undefined;
};

const MS_PER_SECOND = 1_000;

export const conditionOf = (
  { enabled, disabledReason, missedSince, health }: Webhook,
  nowMs: number,
): Condition => {
  const {
    failingSince = null,
    failuresInRow = 0,
    lastFailure = null,
    pausedUntil = null,
    lastSuccessAt = null,
  } = health ?? {};
  const reason = lastFailure?.reason ?? '';
  if (!enabled) return disabledBy(disabledReason, reason);
  if (failingSince !== null) {
    const seconds = Math.max(0, (nowMs - Date.parse(failingSince)) / MS_PER_SECOND);
    const many = failuresInRow === 1 ? 'The last attempt failed' : `All ${failuresInRow} attempts failed`;
    const says = `${many} in the last ${spanText(seconds)}. ${reason}`;
    return { tone: 'bad', word: 'failing', says, advice: remedyOf(lastFailure?.status ?? null) };
  }
  if (missedSince !== undefined) {
    const says = 'It missed events while it was disabled.';
    return { tone: 'warn', word: 'missed events', says, advice: 'Replay the missed events.' };
  }
  if (pausedUntil !== null) return { tone: 'warn', word: 'paused', says: `All deliveries wait. ${reason}` };
  const dead = health?.backlog.dead ?? 0;
  if (dead > 0) {
    const says = `It accepts deliveries. ${plural(dead, 'earlier delivery', 'earlier deliveries')} used up all attempts.`;
    return { tone: 'warn', word: 'dead letters', says, advice: 'Send the failed deliveries again.' };
  }
  if (lastSuccessAt === null)
    return {
      tone: 'plain',
      word: 'nothing sent',
      says: 'Nothing has been delivered yet.',
      advice: 'Send a test event.',
    };
  return { tone: 'good', word: 'healthy', says: 'It accepts deliveries.' };
};

const disabledBy = (reason: Webhook['disabledReason'], lastFailure: string): Condition => {
  const word = 'disabled';
  const advice = 'Repair the receiver, enable the endpoint, and replay the missed events.';
  if (reason === 'failing')
    return { tone: 'bad', word, says: `All attempts failed for days. ${lastFailure}`, advice };
  if (reason === 'gone')
    return {
      tone: 'bad',
      word,
      says: 'The receiver answered 410 Gone: it accepts no more deliveries.',
      advice,
    };
  return { tone: 'plain', word, says: 'Its owner or an administrator disabled it. Nothing is sent.' };
};

const REFUSED =
  'The receiver refuses the request. Check the secret it verifies with, and the headers it expects.';
const OVERLOADED =
  'The receiver is down or overloaded. Deliveries continue when it answers. If this persists, lower the rate.';
const REMEDIES: Readonly<Record<number, string>> = {
  401: REFUSED,
  403: REFUSED,
  404: 'Nothing is at this address. Check the URL of the endpoint.',
  405: 'The address does not accept POST. Check the URL of the endpoint.',
  410: 'The address no longer exists. Register the new one.',
  413: 'The receiver does not accept bodies of this size. Raise its limit, or send only ids.',
  429: OVERLOADED,
  502: OVERLOADED,
  503: OVERLOADED,
  504: OVERLOADED,
};

/** Advice by the status of the answer; null if there was none. */
export const remedyOf = (status: number | null): string => {
  if (status === null)
    return 'The receiver did not respond. Check that it runs, that this server can reach it, and that its certificate is valid.';
  const known = REMEDIES[status];
  if (known !== undefined) return known;
  if (status >= 300 && status < 400)
    return 'Redirects are not followed. Change the URL to the target of the redirect.';
  if (status >= 500) return 'The receiver failed. Look for the webhook-id in its log.';
  return 'The receiver rejects the request. Its response may give the reason.';
};

export const isSuccess = ({ status, error }: Pick<Attempt, 'status' | 'error'>): boolean =>
  error === null && status !== null && status >= 200 && status < 300;
