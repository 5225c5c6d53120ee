/**
 * Follows what is published by the browser's own `EventSource`. That cannot send a token, so the stream is
 * opened without one, by a name that only this page knows, and what to send on it is asked for by `fetch`,
 * which can (GraphQL over SSE, single connection mode).
 *
 *     const { close } = followPublished({ url: 'https://annals.example', token: getToken, onChange: ({ cursor, article }) => … });
 *
 * `token` is asked for one at every connection.
 */
export const followPublished = ({ url, token, after, onChange, onProblem = console.warn }) => {
  let last = after;
  let attempt = 0;
  let isClosed = false;
  let source;

  const connectAgain = () => {
    source?.close();
    if (!isClosed) setTimeout(connect, AGAIN_MS + Math.random() * AGAIN_MS);
  };

  const connect = async () => {
    try {
      last ??= await cursorNow(url);
      const answer = await fetch(`${url}/graphql`, { method: 'PUT' });
      if (!answer.ok) throw new Error(`no stream: ${answer.status}`);
      const name = await answer.text();
      if (isClosed) return;
      source = new EventSource(`${url}/graphql?token=${name}`);
      // It connects again by itself, and has to be told again what to send.
      source.onopen = () => subscribe(name);
      source.onerror = ({ target }) => target.readyState === EventSource.CLOSED && connectAgain();
      source.addEventListener('next', ({ data }) => handle(JSON.parse(data)));
      // Such as when the token has expired. Where asking again does not help either, that is not found out in
      // a loop.
      source.addEventListener('complete', () => setTimeout(() => subscribe(name), AGAIN_MS));
    } catch (error) {
      onProblem(error);
      connectAgain();
    }
  };

  const subscribe = async (name) => {
    if (isClosed) return;
    attempt += 1;
    const body = {
      query: PUBLISHED,
      variables: { after: last },
      extensions: { operationId: String(attempt) },
    };
    try {
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await token()}`,
          'content-type': 'application/json',
          'x-graphql-event-stream-token': name,
        },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`not subscribed: ${answer.status} ${await answer.text()}`);
    } catch (error) {
      onProblem(error);
      connectAgain();
    }
  };

  const handle = ({ payload: { data, errors } }) => {
    if (errors) onProblem(errors);
    if (!data) return;
    onChange(data.changes);
    last = data.changes.cursor;
  };

  void connect();
  return {
    close() {
      isClosed = true;
      source?.close();
    },
  };
};

/**
 * Where the log is now. Whoever follows without a cursor, and is cut off before anything has come, would
 * begin at a later place.
 */
const cursorNow = async (url) => {
  const answer = await fetch(`${url}/graphql?query={cursor}`, { cache: 'no-store' });
  if (!answer.ok) throw new Error(`no cursor: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).data.cursor;
};

const AGAIN_MS = 1_000;

const PUBLISHED = /* GraphQL */ `
  subscription ($after: Cursor) {
    changes(types: ["article.published"], after: $after) { cursor type subjectId article { title } }
  }
`;
