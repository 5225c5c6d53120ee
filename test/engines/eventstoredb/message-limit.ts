import { messageTooLarge } from './refusals.ts';

const tooLarge = new WeakSet<object>();

/**
 * Reads a message, unless it is too large. The limit of the library has other words than the server’s, and an
 * error here would get another code.
 */
export const limited =
  <Message extends object>(
    bytesMax: number,
    deserialize: (bytes: Buffer) => Message,
    empty: () => Message,
  ): ((bytes: Buffer) => Message) =>
  (bytes) => {
    if (bytes.length <= bytesMax) return deserialize(bytes);
    const replaced = empty();
    tooLarge.add(replaced);
    return replaced;
  };

type Failing = { emit(event: 'error', error: Error): unknown };

/** Ends the call of a message that was too large. */
export const refuseTooLarge = (call: Failing, message: object): boolean => {
  if (!tooLarge.has(message)) return false;
  call.emit('error', messageTooLarge());
  return true;
};
