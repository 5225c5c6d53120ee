/** A message of an event stream (HTML Living Standard, section 9.2), as our server writes them. */
export type Message = {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
};

/**
 * Parses text in any pieces. A message is complete with its empty line; one that is cut off will be sent
 * again.
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
    // A line that begins with a colon is a keep-alive.
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
