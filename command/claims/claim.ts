import type { Version } from '#shared/brands.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Decider } from '../decider.ts';

/**
 * One stream for each thing that only so many may have, such as an e-mail address, keeps to that number
 * without a lock:
 *
 * 1. A place is claimed before it is used, naming the version that the claiming append will expect of the holder's stream.
 * 2. What uses it is then appended to the holder's stream with exactly that expected version.
 * 3. Where all places are claimed, one is released whose holder's stream is past that version and does not use it.
 *    While the stream still is at that version the append may be on its way: the fence, an event of its own, moves it on first.
 *    So a crash between the steps leaves nothing worse than a claim to be released.
 */
export type ClaimState = { readonly holders: Readonly<Record<number, Holder>> };

/** `version` is what the claiming append will expect of the holder's stream: 0 for a creation. */
export type Holder = { readonly version: Version; readonly at: string };
type Claimed = Holder & { readonly id: number };

export type ClaimCommand =
  | ({ readonly type: 'Claim' } & Claimed)
  /** `version` is one of the holder's stream at which it was seen not to use its place. */
  | { readonly type: 'Release'; readonly id: number; readonly version: Version };

/** How claims of one kind of thing are recorded. */
type Recorded<Event> = {
  claimed(claim: Claimed): Event;
  released(id: number): Event;
  /** Without a holder where it was released. */
  read(event: Event): { readonly id: number; readonly holder?: Holder };
};

export type ClaimDecider<Event extends AnnalsEvent = AnnalsEvent> = Decider<ClaimState, ClaimCommand, Event>;

/** Whether there is room is asked before, because only the holders' own streams say who uses a place. */
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
        // A retry after the stream has moved on claims anew, so that the release of the older claim spares
        // it.
        return known !== undefined && known.version >= version ? [] : [claimed({ id, version, at })];
      }
      case 'Release':
        // A claim made at the version seen, or later, may still be used.
        return known === undefined || known.version >= command.version ? [] : [released(command.id)];
    }
  },

  evolve({ holders }, event) {
    const { id, holder } = read(event);
    const { [id]: _, ...others } = holders;
    return { holders: holder === undefined ? others : { ...others, [id]: holder } };
  },
});
