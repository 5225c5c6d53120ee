import { keptUntilMs, RETAINED_SINCE } from '../base/keeping.ts';
import { spaced } from '../base/names.ts';
import { Rejection, type RejectionCode, refusedAs } from '../base/rejection.ts';
import type { EventInfo, Kind, Row } from '../registry/registry.ts';

/** Refuses an end before the time for which the aggregate must be kept is over. */
export const demandKept = (
  kind: Kind,
  { effect }: EventInfo,
): ((fields: Row, at: string) => void) | undefined => {
  const { retain } = kind;
  if (effect !== 'ends' || retain === undefined) return undefined;
  return ({ [RETAINED_SINCE]: since }, at) => {
    if (since === null || since === undefined) return;
    const untilMs = keptUntilMs(since, retain);
    if (Date.parse(at) >= untilMs) return;
    const until = new Date(untilMs).toISOString();
    throw new Rejection(
      retainedCode(kind),
      { until },
      { says: `The ${spaced(kind.name)} must be kept until ${until}: it cannot be deleted before.` },
    );
  };
};

export const retainedCode = ({ name }: Pick<Kind, 'name'>): RejectionCode => refusedAs(name, 'retained');
