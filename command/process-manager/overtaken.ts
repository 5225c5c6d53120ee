import { targetOf } from '#kernel/base/names.ts';
import type { Expression } from '#kernel/conditions/expression.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { isMovable } from '#kernel/decide/memberships.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';
import { isAfterHold, referencesOfEnd } from './held.ts';
import type { ReactionTask } from './tasks.ts';

type Dependencies = { readonly domain: Domain; readonly states: States };

/** Whether a command is that of a reference with `gone`, which it sets to null. */
const isOfGone = ({ events }: CommandInfo): boolean => events.some(({ spec }) => spec.gone === true);

type Reacting = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  /** Its name has the reference and the type of the event, such as `ticket ticket.deleted`. */
  readonly task: ReactionTask;
  readonly only: Expression | undefined;
};

/**
 * Whether a command that follows from the end of a reference’s target no longer applies: since the end, somebody
 * may have let the reference lead elsewhere, or moved the aggregate below another parent. `fields` are those of
 * the aggregate, or of the item.
 */
export const isOvertaken = async (
  dependencies: Dependencies,
  { kind, command, task, only }: Reacting,
  fields: Row,
): Promise<boolean> => {
  if (isAfterHold(kind, task)) {
    for (const [path, def] of referencesOfEnd(dependencies.domain, kind, { command, only }))
      if (await leadsToEnd(dependencies, def, fields[path])) return false;
    return true;
  }
  const { name } = task;
  const reference = isOfGone(command)
    ? emptiedBy(command)
    : isOfParentsEnd(dependencies, kind, name)
      ? kind.parent
      : undefined;
  const def = reference === undefined ? undefined : (command.list?.fields ?? kind.fields)[reference];
  return (
    reference !== undefined && def !== undefined && !(await leadsToEnd(dependencies, def, fields[reference]))
  );
};

const isOfParentsEnd = ({ domain }: Dependencies, kind: Kind, name: string): boolean => {
  const [reference, type = ''] = name.split(' ');
  if (reference !== kind.parent || !isMovable(kind)) return false;
  const target = domain.kinds[type.slice(0, Math.max(type.indexOf('.'), 0))];
  return Object.values(target?.events ?? {}).some((event) => event.type === type && event.effect === 'ends');
};

const emptiedBy = ({ events }: CommandInfo): string | undefined =>
  events.flatMap(({ sets, item }) => Object.keys(item?.sets ?? sets))[0];

const leadsToEnd = async ({ domain, states }: Dependencies, def: FieldDef, id: unknown): Promise<boolean> => {
  const target = domain.kinds[targetOf(def)];
  if (target === undefined || typeof id !== 'number') return false;
  const { state } = await states.load<AggregateState, never>(deciderOf(domain, target), streamOf(target, id));
  return state.status === 'ended';
};
