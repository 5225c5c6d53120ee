import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 100;

/** Looks again until there is something that counts; answers with undefined when the time is up. */
export const until = async <Seen>(look: () => Promise<Seen>, deadlineMs: number): Promise<Seen | undefined> => {
  const expiresAtMs = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > expiresAtMs) return undefined;
    await delay(LOOK_AGAIN_MS);
  }
};
