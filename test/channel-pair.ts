import { EventEmitter } from 'node:events';
import type { ChannelEnd } from '#process/workers/channel.ts';

/** Both ends of a channel in one process, for tests. */
export const createChannelPair = (): readonly [ChannelEnd, ChannelEnd, { disconnect(): void }] => {
  const [one, other] = [new EventEmitter(), new EventEmitter()];
  const endOf = (own: EventEmitter, peer: EventEmitter): ChannelEnd => ({
    on: (event: string, listener: (message: unknown) => void) => own.on(event, listener),
    send(message, callback) {
      setImmediate(() => peer.emit('message', structuredClone(message)));
      callback(null);
      return true;
    },
  });
  const disconnect = () => {
    for (const end of [one, other]) end.emit('disconnect');
  };
  return [endOf(one, other), endOf(other, one), { disconnect }];
};
