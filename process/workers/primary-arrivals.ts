import type { Arrivals, Charge, Charged } from '#edge/rate-limit/gcra.ts';
import type { Channel } from './channel.ts';
import type { OfPrimary } from './protocol.ts';

type Primary = Pick<Channel<OfPrimary>, 'ask'>;

type Waiting = {
  readonly charge: Charge;
  readonly resolve: (charged: Charged) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Stores arrivals in the memory of the primary process for all its workers. The charges of one turn of the
 * event loop go in one message.
 */
export const primaryArrivals = (primary: Primary): Arrivals => {
  let waiting: Waiting[] = [];
  const send = async (): Promise<void> => {
    const sent = waiting;
    waiting = [];
    try {
      const charged = await primary.ask(
        'charge',
        sent.map(({ charge }) => charge),
      );
      for (const [index, each] of charged.entries()) sent[index]?.resolve(each);
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  };
  return {
    charge(charge) {
      const { promise, resolve, reject } = Promise.withResolvers<Charged>();
      if (waiting.push({ charge, resolve, reject }) === 1) queueMicrotask(() => void send());
      return promise;
    },
    [Symbol.asyncDispose]: async () => {},
  };
};
