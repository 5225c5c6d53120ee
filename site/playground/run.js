// Runs the reader's lines in a frame of its own: it has no origin, no storage and no token, and may load nothing.
// Its client sends every request through the page, which adds the token.
import { createClient } from './client/client.js';
import { Problem } from './client/problem.js';

const AsyncFunction = (async () => {}).constructor;
const TEXT_CHARACTERS_MAX = 20_000;

const textOf = (value) => {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = JSON.stringify(value, undefined, 2) ?? String(value);
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text;
};

/** A `fetch` that the page carries out. */
const fetchBy = (port) => {
  const waiting = new Map();
  let last = 0;
  const receive = ({ id, kind, ...rest }) => {
    const asked = waiting.get(id);
    if (kind === 'head') {
      const body = rest.hasBody
        ? new ReadableStream({
            start: (controller) => Object.assign(asked, { controller }),
            cancel() {
              asked.isLeft = true;
              port.postMessage({ kind: 'abort', id });
            },
          })
        : null;
      asked.resolve(new Response(body, { status: rest.status, headers: rest.headers }));
    } else if (kind === 'chunk' && !asked?.isLeft) asked?.controller?.enqueue(rest.bytes);
    else if (kind === 'end') {
      waiting.delete(id);
      // A reader that has left has closed it.
      if (!asked?.isLeft) asked?.controller?.close();
    } else if (kind === 'failed') {
      waiting.delete(id);
      const error = new TypeError(rest.message);
      asked?.reject(error);
      if (!asked?.isLeft) asked?.controller?.error(error);
    }
  };
  const fetch = (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      signal?.addEventListener('abort', () => {
        port.postMessage({ kind: 'abort', id });
        reject(signal.reason);
      });
      port.postMessage({ kind: 'fetch', id, url, method, headers, body });
    });
  return { fetch, receive };
};

const run = async ({ code, url }, port) => {
  const show = (...values) => port.postMessage({ kind: 'show', text: values.map(textOf).join(' ') });
  const { fetch, receive } = fetchBy(port);
  port.onmessage = ({ data }) => receive(data);
  console.log = show;
  try {
    const client = createClient({ url, fetch });
    const result = await new AsyncFunction('client', 'show', code)(client, show);
    if (result !== undefined) show(result);
    port.postMessage({ kind: 'done' });
  } catch (error) {
    const { code: of, status, fields, details } = error instanceof Problem ? error : {};
    const refused = of && { code: of, status, fields, details };
    port.postMessage({ kind: 'done', error: textOf(error), refused: refused && textOf(refused) });
  }
};

addEventListener('message', ({ data, ports: [port], source }) => {
  if (source === parent && port) void run(data, port);
});
