/** A message of a stream of events (HTML Living Standard, section 9.2), as ours have them. */
export type Message = {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
};

/**
 * Takes text in whatever pieces it comes; a message is whole once its empty line has come, and what is cut
 * off before comes again.
 */
export const openMessages = (): ((text: string) => readonly Message[]) => {
  let rest = '';
  return (text) => {
    const whole = (rest + text).split('\n\n');
    rest = whole.pop() ?? '';
    return whole.map(messageOf).filter((message) => Object.keys(message).length > 0);
  };
};

const messageOf = (text: string): Message => {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    // A line that begins with a colon says only that the stream lives.
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const [event, id, data, retry] = ['event', 'id', 'data', 'retry'].map((name) => fields.get(name));
  return {
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data }),
    ...(retry !== undefined && { retryMs: Number(retry) }),
  };
};
