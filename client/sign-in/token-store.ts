/** Where a session keeps its tokens between two runs of a program. */
export type TokenStore = {
  /**
   * Calls `change` with the text that is kept, and keeps the one that it returns; undefined is nothing.
   * Nobody else does so meanwhile, in other processes either: a refresh token is good for one use, and a
   * second one would end the session.
   */
  update(change: (kept: string | undefined) => Promise<string | undefined>): Promise<void>;
};

/** As long as the process lives. */
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
