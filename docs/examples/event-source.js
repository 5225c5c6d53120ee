/**
 * Subscribes to published articles with the browser's own `EventSource`. That cannot send a token, so it opens
 * the stream without one, under a name that only this page knows. Then `fetch`, which can send a token,
 * subscribes on it (GraphQL over SSE, single connection mode).
 *
 *     const { close } = followPublished({ url: 'https://annals.example', token: getToken, onChange: ({ cursor, article }) => … });
 *
 * Every connection calls `token` for a new one.
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
      // It reconnects by itself, and must subscribe again.
      source.onopen = () => subscribe(name);
      source.onerror = ({ target }) => target.readyState === EventSource.CLOSED && connectAgain();
      source.addEventListener('next', ({ data }) => handle(JSON.parse(data)));
      // For example when the token has expired. If subscribing again fails too, the next attempt waits.
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
 * The current cursor. A subscriber without a cursor that loses its connection before the first event would
 * miss events.
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
