import type { PendingMutation } from '@tanstack/db';
import { Problem } from '../client/problem.ts';
import type { Requester } from '../client/requests.ts';
import { laterOf } from './cursors.ts';
import type { CommandOptions, Utils } from './types.ts';

/** Writes of optimistic transactions: each ends when the collections have its effect. */

/** The cursor of a write, by its answer; an answer without content has none. */
const cursorIn = (written: unknown): string | undefined => {
  const { cursor } = (written ?? {}) as { readonly cursor?: unknown };
  return typeof cursor === 'string' ? cursor : undefined;
};

/**
 * Sends the mutations of a transaction one after the other. If one is refused, the former ones stay written,
 * so their effect arrives before the transaction is rolled back.
 */
export const sendAll = async <M>(
  mutations: readonly M[],
  send: (mutation: M) => Promise<unknown>,
  { requester, reached }: { readonly requester: Requester; readonly reached: Utils<never>['reached'] },
): Promise<void> => {
  let token: string | undefined;
  try {
    for (const mutation of mutations)
      token = laterOf(cursorIn(await send(mutation)) ?? requester.written(), token);
  } finally {
    if (token !== undefined) await reached(token);
  }
};

export const changeOf = <T extends object>(
  mutation: PendingMutation<T>,
  read: (key: never) => Promise<T>,
) => ({
  item: mutation.modified,
  original: mutation.original as T,
  changes: mutation.changes as Partial<T>,
  metadata: mutation.metadata,
  options: { idempotencyKey: mutation.mutationId },
  async unchanged(): Promise<T> {
    const now = await read(mutation.key as never);
    if (!isSameItem(now, mutation.original))
      throw new Problem({
        code: 'version_mismatch',
        status: 412,
        message: 'The item has changed since it was shown. Look at it again before you change it.',
      });
    return now;
  },
});

/** Items of lists are the same as when they are read by id; their links depend on the moment. */
const isSameItem = (one: object, other: object): boolean => textOf(one) === textOf(other);
const textOf = (item: object): string =>
  JSON.stringify(
    Object.entries({ ...item, _links: undefined })
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

/**
 * The options of `createOptimisticAction` for a command of the domain. The transaction ends when each
 * collection that `onMutate` has changed has the effect of the command.
 *
 *     const submit = createOptimisticAction(annalsCommand({
 *       onMutate: (id: number) => void claims.update(id, (claim) => { claim.status = 'submitted'; }),
 *       command: (id, options) => client.claims.submit(id, undefined, options),
 *     }));
 */
export const annalsCommand = <Variables>({
  onMutate,
  command,
  also = [],
  ...rest
}: CommandOptions<Variables>) => ({
  ...rest,
  onMutate,
  async mutationFn(
    variables: Variables,
    { transaction }: Parameters<MutationFn<Variables>>[1],
  ): Promise<unknown> {
    const written = await command(variables, { idempotencyKey: transaction.id });
    const changed = transaction.mutations.map(({ collection }) => collection.utils);
    const utils = new Set([...changed, ...also.map((each) => each.utils)]);
    await Promise.all([...utils].map((each) => each.reached?.(cursorIn(written))));
    return written;
  },
});
type MutationFn<Variables> = import('@tanstack/db').CreateOptimisticActionsOptions<Variables>['mutationFn'];
