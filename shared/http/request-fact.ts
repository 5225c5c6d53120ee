import type { IncomingMessage } from 'node:http';

/** Something that is known of a request. */
export type RequestFact<Value> = {
  of(request: IncomingMessage): Value | undefined;
  set(request: IncomingMessage, value: Value): void;
};

/**
 * Kept at the request itself, under a key that nobody else has. A WeakMap would keep it too, and make the
 * collection of garbage dear.
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
