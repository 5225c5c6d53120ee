import { streamName } from '#kernel/base/events/streams.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { type Caller, mayAlways, type Policy } from '#shared/policy.ts';
import type { Source } from '../rows/source.ts';
import type { Past } from './past.ts';

/**
 * The rights to parts of an aggregate that the caller lacks now. Former values of these parts are withheld
 * too.
 */
export const withheldNow = async (
  { isReadable }: Pick<Past, 'isReadable'>,
  { kind, whole }: Source,
  { caller, id }: { readonly caller: Caller; readonly id: number },
): Promise<ReadonlySet<Operation>> => {
  const withheld = new Set<Operation>();
  if (caller.kind === 'system') return withheld;
  for (const right of whole)
    if (
      !isLasting(caller.policy, right) &&
      !mayAlways(caller, right) &&
      !(await isReadable(caller, streamName(kind.name, id), right))
    )
      withheld.add(right);
  return withheld;
};

/** True if the right depends on no facts that change. */
const isLasting = ({ rights }: Policy, right: Operation): boolean =>
  (rights.get(right)?.alternatives ?? []).every(
    (each) => each.op === 'const' || (each.op === 'caller' && each.field === 'id'),
  );
