import type { Mix, Part, Planned } from './mix.ts';

/**
 * Chooses requests in rounds. A round contains each part as often as its weight says, in random order, so
 * that even a short step sends all parts. The requests of a part alternate, each with another number for
 * `{n}`.
 */
export const chooserOf = ({ requests, weights }: Mix): (() => Planned) => {
  const parts = [...requests.keys()].flatMap((part) => Array.from({ length: weights[part] }, () => part));
  let round: Part[] = [];
  const turns = new Map<Part, number>();
  let number = Date.now();
  return () => {
    if (round.length === 0) round = shuffled(parts);
    const part = round.pop() as Part;
    const planned = requests.get(part) ?? [];
    const turn = turns.get(part) ?? 0;
    turns.set(part, turn + 1);
    const chosen = planned[turn % planned.length] as Planned;
    if (chosen.part !== 'command') return chosen;
    number += 1;
    const numbered = (text: string) => text.replaceAll('{n}', String(number));
    return {
      ...chosen,
      path: numbered(chosen.path),
      ...(chosen.body !== undefined && { body: numbered(chosen.body) }),
    };
  };
};

const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, rank: Math.random() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
