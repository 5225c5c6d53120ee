import type { IncomingMessage } from 'node:http';

type RequestFact<Value> = {
  of(request: IncomingMessage): Value | undefined;
  set(request: IncomingMessage, value: Value): void;
};

/**
 * Stored in the request itself, under a private key. A WeakMap would store it too, but make garbage
 * collection expensive.
 */
export const requestFact = <Value>(name: string): RequestFact<Value> => {
  const key = Symbol(name);
  type Holder = { [key]?: Value };
  return {
    of: (request) => (request as Holder)[key],
    set: (request, value) => {
      (request as Holder)[key] = value;
    },
  };
};
