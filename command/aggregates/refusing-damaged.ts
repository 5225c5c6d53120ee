import { parked } from '#edge/http/parked.ts';
import { isDamage } from '#shared/visibility/damage.ts';

/** If an event behind a reference cannot be read, no decision is possible until an operator acts. */
export const refusingDamaged =
  <Given extends readonly unknown[], Read>(read: (...given: Given) => Promise<Read>) =>
  (...given: Given): Promise<Read> =>
    read(...given).catch((error: unknown) => {
      // A `TypeError` is a defect in our code, not a damaged event.
      throw isDamage(error) && !(error instanceof TypeError) ? parked(error) : error;
    });
