type Waiting<Item, Answer> = { readonly item: Item; readonly asker: PromiseWithResolvers<Answer> };

const ITEMS_MAX = 1_000;

/**
 * Does at once what was asked for while the last was being done. One that comes alone waits for nobody. The answers come in the order
 * of the items; where the work fails, it fails for all of them.
 */
export const batched = <Item, Answer>(
  workMany: (items: readonly Item[]) => Promise<readonly Answer[]>,
  itemsMax: number = ITEMS_MAX,
): ((item: Item) => Promise<Answer>) => {
  let waiting: Waiting<Item, Answer>[] = [];
  let isWorking = false;
  const work = async (): Promise<void> => {
    isWorking = true;
    // Those who ask in the same turn go together.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsMax);
      waiting = waiting.slice(batch.length);
      try {
        const answers = await workMany(batch.map(({ item }) => item));
        // As many answers as items, by the contract of the work.
        for (const [index, { asker }] of batch.entries()) asker.resolve(answers[index] as Answer);
      } catch (error) {
        for (const { asker } of batch) asker.reject(error);
      }
    }
    isWorking = false;
  };
  return (item) => {
    const asker = Promise.withResolvers<Answer>();
    waiting.push({ item, asker });
    if (!isWorking) void work();
    return asker.promise;
  };
};
