import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { mayIfKnown } from './if-known.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import type { Actor, Stage } from './stage.ts';
import { planned } from './visible-events.ts';

/** The users whom somebody can name in forms. */
export const nameableBy = (stage: Stage, by: Actor | undefined): readonly number[] => {
  const { domain, actors } = stage;
  const { user } = domain.kinds;
  return actors.flatMap(({ userId }) => {
    if (userId === null) return [];
    if (by === undefined || user === undefined || userId === by.userId) return [userId];
    const asking = askingAs(stage, openSeenRows(stage), by);
    const state = asking.find('user', userId);
    return state !== undefined && mayIfKnown(asking, user, state) ? [userId] : [];
  });
};

type Referring = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly name: string;
  readonly to: string;
  readonly by: Actor | undefined;
  /** Whether the form must name one. */
  readonly isNeeded: boolean;
};

/**
 * The target with which the search carried out the command, or another one that exists. The sender of the form
 * must be able to read it.
 */
export const targetFor = (
  stage: Stage,
  { kind, command, name, to, by, isNeeded }: Referring,
): Situation | undefined => {
  const { situations, byId } = stage.found;
  const steps = situations.flatMap((each) => (each.kind === kind ? each.steps : []));
  const known = steps.flatMap((step) => {
    const id = step.command === command ? step.form[name] : undefined;
    return (typeof id === 'number' && byId.get(id)) || [];
  });
  const others = situations.filter((each) => each.kind.name === to);
  const all = [...known, ...others];
  const readable = by === undefined ? all : all.filter((each) => isReadableBy(stage, by, each));
  const isKnown = new Set(known);
  const [best] = (readable.length > 0 || !isNeeded ? readable : all).toSorted(
    (one, other) => Number(isKnown.has(other)) - Number(isKnown.has(one)) || other.readers - one.readers,
  );
  return best;
};

const isReadableBy = (stage: Stage, by: Actor, { kind, state }: Situation): boolean =>
  mayIfKnown(planned(stage, by), kind, state.fields);
