/**
 * Follows the events by `fetch`, which can send a token where `EventSource` cannot.
 *
 *     for await (const event of followEvents({ url: 'https://annals.example', token: getToken, types: ['article.published'] })) …
 *
 * `token` is asked for one at every connection. Leave the loop, or abort the signal, to end it.
 */
export async function* followEvents({ url, token, types, after = '', signal }) {
  const address = new URL('/events', url);
  if (types) address.searchParams.set('types', types.join(','));
  const state = { last: after, retryMs: 1_000 };
  while (!signal?.aborted) {
    try {
      for await (const { event, data } of messages(
        address,
        { authorization: `Bearer ${await token()}` },
        { state, signal },
      )) {
        if (event === 'problem') console.warn('told:', data);
        else yield JSON.parse(data);
      }
    } catch (error) {
      if (!signal?.aborted) console.warn('cut off:', error);
    }
    await new Promise((resolve) => setTimeout(resolve, state.retryMs));
  }
}

/** A stream that is idle says every 15 seconds that it lives. */
const SILENCE_MAX_MS = 60_000;

/** Messages of one connection, until it ends. An empty `Last-Event-ID` means from now on. */
async function* messages(address, headers, { state, signal }) {
  const silence = new AbortController();
  const leaving = new AbortController();
  const signals = [silence.signal, leaving.signal, ...(signal ? [signal] : [])];
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const response = await fetch(address, {
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': state.last },
      signal: AbortSignal.any(signals),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    let rest = '';
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      // Only where a line is empty is a message whole. What is cut off before comes again.
      const whole = (rest + decoder.decode(chunk.value, { stream: true })).split('\n\n');
      rest = whole.pop();
      for (const text of whole) {
        const fields = fieldsOf(text);
        if (fields.retry) state.retryMs = Number(fields.retry);
        if (fields.data) yield { event: fields.event, data: fields.data };
        // Not before it was dealt with.
        state.last = fields.id ?? state.last;
      }
    }
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

/**
 * Ours have one line of data. A colon alone, which says that the stream lives, is a field that nobody looks
 * at.
 */
const fieldsOf = (text) =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const [name, ...value] = line.split(': ');
      return [name, value.join(': ')];
    }),
  );
