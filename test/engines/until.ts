const LOOK_AGAIN_MS = 10;

/** Looks again until what is seen is what was waited for; tells what was seen last when the time is up. */
export const until = async <Seen>(look: () => Promise<Seen> | Seen, isIt: (seen: Seen) => boolean, deadlineMs = 15_000): Promise<Seen> => {
  const expiresAtMs = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (isIt(seen)) return seen;
    if (performance.now() > expiresAtMs) throw new Error(`not within ${deadlineMs} ms; last seen: ${JSON.stringify(seen)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
};
