/**
 * Where the log is now. Whoever follows without a cursor begins there, and would begin at a later place if cut off before anything
 * has come; clients of GraphQL are not shown the ids of streams, so they ask once. A stream of `/events` says it by itself.
 */
export const cursorNow = async (url, token) => {
  const leaving = new AbortController();
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: 'subscription { changes { cursor } }' }),
      signal: leaving.signal,
    });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    let text = '';
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += decoder.decode(chunk.value, { stream: true });
      const [, cursor] = /^id: (\S+)\n/m.exec(text) ?? [];
      if (cursor) return cursor;
    }
    throw new Error(`no cursor: ${response.status} ${text}`);
  } finally {
    leaving.abort();
  }
};
