/** Stores the tokens of a session between runs of a program. */
export type TokenStore = {
  /**
   * Calls `change` with the stored text, and stores the result; undefined means none. No other caller does so
   * meanwhile, in any process: a refresh token works once, and a second use would end the session.
   */
  update(change: (kept: string | undefined) => Promise<string | undefined>): Promise<void>;
};

/** Lives as long as the process. */
export const memoryStore = (): TokenStore => {
  let kept: string | undefined;
  let last: Promise<void> = Promise.resolve();
  return {
    update(change) {
      const updated = last.then(async () => {
        kept = await change(kept);
      });
      last = updated.catch(() => {});
      return updated;
    },
  };
};
