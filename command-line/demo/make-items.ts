import type { PlannedDemo, Send } from '#kernel/demo/demo.ts';
import { spaced } from '#kernel/registry/names.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { changePerson, makePerson } from './make-people.ts';

type ToMake = {
  readonly send: Send;
  readonly seed: number;
  readonly planned: PlannedDemo;
  /** The first aggregate of the domain. */
  readonly kind: Kind;
  tell(what: string, done: number, of: number): void;
};

/** So many requests are under way at once. */
const LANES = 6;

/** Makes what is planned, people first. A run that was cut off is resumed, because keys and versions tell what it has done. */
export const makeItems = async ({ send, seed, planned: { people, items }, kind, tell }: ToMake): Promise<void> => {
  const ids: number[] = [];
  for (const [index, person] of people.entries()) {
    tell('people', index, people.length);
    ids.push(await makePerson(send, seed, person));
  }
  let done = 0;
  await inLanes([...items.entries()], async ([index, make]) => {
    await make({ send, key: `demo-${seed}-${kind.name}-${index}`, people: ids });
    done += 1;
    tell(spaced(kind.plural), done, items.length);
  });
  for (const [index, { later }] of people.entries()) if (later) await changePerson(send, ids[index] ?? 0, later);
};

const inLanes = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
