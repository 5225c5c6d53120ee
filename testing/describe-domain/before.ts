import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import type { Situation } from './situations.ts';
import type { Actor, Stage } from './stage.ts';

/** The situation before a command that the search found, and the actor who sends it then. */
export type Before = { readonly situation: Situation; readonly by: Actor };

/** One per situation that allows the command, the shortest first. Empty for a creation. */
export const beforeCommand = (
  { found, actors, admin }: Stage,
  kind: Kind,
  command: CommandInfo,
): readonly Before[] =>
  found.situations
    .filter((each) => each.kind === kind && each.later.length === 0)
    .flatMap((situation): readonly (Before & { readonly index: number })[] => {
      const index = situation.steps.findIndex((step) => step.command === command);
      if (index < 1) return [];
      const by = actors.find(({ key }) => key === situation.steps[index]?.actor) ?? admin;
      return [
        {
          index,
          by,
          situation: {
            ...situation,
            name: `${kind.name} before ${command.name}`,
            steps: situation.steps.slice(0, index),
          },
        },
      ];
    })
    .toSorted((one, other) => one.index - other.index);
