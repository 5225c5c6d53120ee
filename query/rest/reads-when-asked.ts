import type { Reader } from './read-routes.ts';

type AnyRead = (reader: Reader, asked: never) => Promise<unknown>;

/** Reads by their operation ids, whose code `load` loads with the first request for one of them. */
export const readsWhenAsked = <const Id extends string, Found extends Readonly<Record<Id, AnyRead>>>(
  ids: readonly Id[],
  load: () => Promise<Found>,
): { readonly [Each in Id]: Found[Each] } => {
  const read =
    (id: Id): AnyRead =>
    async (reader, asked) =>
      (await load())[id](reader, asked);
  // The compiler cannot see that each id gets its own read.
  return Object.fromEntries(ids.map((id) => [id, read(id)])) as unknown as {
    readonly [Each in Id]: Found[Each];
  };
};
