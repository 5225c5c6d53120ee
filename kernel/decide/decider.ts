import { oncePer } from '../base/once-per.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { type Command, decisionsOf } from './decide.ts';
import { type Evolve, evolveOf } from './evolve.ts';
import { foldDefinitionOf } from './fold-definition.ts';
import { type Context, lookNowhere } from './guards.ts';
import { ABSENT, type AggregateState, type Happened } from './state.ts';

/** The rules of one kind of aggregate. */
export type KindDecider = {
  readonly initial: AggregateState;
  readonly evolve: Evolve;
  /** Identifies the meaning of the fold: a state with another definition is folded again. */
  readonly definition: string;
  decide(command: Command, state: AggregateState, context?: Context): readonly Happened[];
};

const NOBODY: Context = { callerId: null, at: '', look: lookNowhere };

export const deciderOf = (domain: Domain, kind: Kind): KindDecider => decidersOf(domain)(kind);

const decidersOf = oncePer((domain: Domain) => oncePer((kind: Kind) => compile(domain, kind)));

const compile = (domain: Domain, kind: Kind): KindDecider => {
  const evolve = evolveOf(kind);
  const decisions = decisionsOf(domain, kind, evolve);
  return {
    initial: ABSENT,
    evolve,
    definition: foldDefinitionOf(kind),
    decide(command, state, context = NOBODY) {
      const decide = decisions.get(command.type);
      if (decide === undefined) throw new Error(`${command.type} is not a command of ${kind.name}`);
      return decide(command, state, context);
    },
  };
};

type Abandoned = { readonly fence: string; readonly id: number; readonly claim: string };

/**
 * The fence event: once it is appended, an append that expects the version at which a value was claimed
 * fails. An ended aggregate needs no fence, because nothing follows the end.
 */
export const abandon = (
  kind: Kind,
  { fence, id, claim }: Abandoned,
  state: AggregateState,
): readonly Happened[] =>
  state.status === 'ended' || state.abandoned === claim
    ? []
    : [{ type: `${kind.name}.${fence}`, data: { [`${kind.name}Id`]: id, claim } }];
