import type { Version } from '#kernel/base/brands.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Decider } from '../decider.ts';

/**
 * One stream per limited thing, such as an e-mail address, enforces the limit without a lock:
 *
 * 1. A place is claimed before it is used. The claim names the version that the claiming append will expect
 * of the holder’s stream. 2. The use is then appended to the holder’s stream with exactly that expected
 * version. 3. If all places are claimed, one claim is released whose holder’s stream is past that version and
 * does not use it. While the stream still has that version, the append may be in flight: a fence event
 * advances it first.
 *
 * A crash between the steps leaves at worst a claim that must be released.
 */
export type ClaimState = { readonly holders: Readonly<Record<number, Holder>> };

/** `version` is the version that the claiming append will expect of the holder’s stream: 0 for a creation. */
export type Holder = { readonly version: Version; readonly at: string };
type Claimed = Holder & { readonly id: number };

export type ClaimCommand =
  | ({ readonly type: 'Claim' } & Claimed)
  /** `version` is a version of the holder’s stream at which it did not use its place. */
  | { readonly type: 'Release'; readonly id: number; readonly version: Version };

/** The events of claims for one kind of thing. */
type Recorded<Event> = {
  claimed(claim: Claimed): Event;
  released(id: number): Event;
  /** Without a holder if released. */
  read(event: Event): { readonly id: number; readonly holder?: Holder };
};

export type ClaimDecider<Event extends AnnalsEvent = AnnalsEvent> = Decider<ClaimState, ClaimCommand, Event>;

/** The caller checks for a free place, because only the holders’ own streams show which places are used. */
export const claimDecider = <Event extends AnnalsEvent>({
  claimed,
  released,
  read,
}: Recorded<Event>): ClaimDecider<Event> => ({
  initial: { holders: {} },

  decide(command, { holders }) {
    const known = holders[command.id];
    switch (command.type) {
      case 'Claim': {
        const { id, version, at } = command;
        // A retry after the stream has moved on makes a new claim, so that releasing the older one does not
        // affect it.
        return known !== undefined && known.version >= version ? [] : [claimed({ id, version, at })];
      }
      case 'Release':
        // A claim at this version or a later one may still be used.
        return known === undefined || known.version >= command.version ? [] : [released(command.id)];
    }
  },

  evolve({ holders }, event) {
    const { id, holder } = read(event);
    const { [id]: _, ...others } = holders;
    return { holders: holder === undefined ? others : { ...others, [id]: holder } };
  },
});
