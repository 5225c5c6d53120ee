import { targetOf } from '#kernel/base/names.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';

type Dependencies = { readonly domain: Domain; readonly states: States };

/** Whether a command is that of a reference with `gone`, which it sets to null. */
export const isOfEnd = ({ events }: CommandInfo): boolean => events.some(({ spec }) => spec.gone === true);

/**
 * Whether the reference leads to an aggregate that has ended. Since the end, somebody may have let it lead
 * elsewhere; `fields` are those of the aggregate, or of the item.
 */
export const leadsToEnd = async (
  { domain, states }: Dependencies,
  { kind, command: { events, list } }: { readonly kind: Kind; readonly command: CommandInfo },
  fields: Row,
): Promise<boolean> => {
  const defs = list?.fields ?? kind.fields;
  const [name = ''] = events.flatMap(({ sets, item }) => Object.keys(item?.sets ?? sets));
  const def = defs[name];
  const target = def && domain.kinds[targetOf(def)];
  const id = fields[name];
  if (target === undefined || typeof id !== 'number') return false;
  const { state } = await states.load<AggregateState, never>(deciderOf(domain, target), streamOf(target, id));
  return state.status === 'ended';
};
