/**
 * Follows events with `fetch`, which can send a token, unlike `EventSource`.
 *
 *     for await (const event of followEvents({ url: 'https://annals.example', token: getToken, types: ['article.published'] })) …
 *
 * Every connection calls `token` for a new one. To end, leave the loop or abort the signal.
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

/** An idle stream sends a heartbeat every 15 seconds. */
const SILENCE_MAX_MS = 60_000;

/** The messages of one connection, until it ends. An empty `Last-Event-ID` means the current end. */
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
      // An empty line completes a message. An incomplete one is sent again.
      const whole = (rest + decoder.decode(chunk.value, { stream: true })).split('\n\n');
      rest = whole.pop();
      for (const text of whole) {
        const fields = fieldsOf(text);
        if (fields.retry) state.retryMs = Number(fields.retry);
        if (fields.data) yield { event: fields.event, data: fields.data };
        // Only after the event was processed.
        state.last = fields.id ?? state.last;
      }
    }
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

/** Our messages have one line of data. A lone colon, the heartbeat, parses as a field that nobody reads. */
const fieldsOf = (text) =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const [name, ...value] = line.split(': ');
      return [name, value.join(': ')];
    }),
  );
