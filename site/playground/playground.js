// Writes lines of the typed client, and runs them against this installation.
import { signIn } from './client/sign-in/browser/sign-in.js';

const at = (id) => document.getElementById(id);
const form = at('playground');
const { frame, issuer, path } = form.dataset;
const base = new URL(form.dataset.root, location.href).href.replace(/\/+$/, '');

/** The client that an administrator registered for this page; none is needed in development. */
const CLIENT = 'annals playground client';
const clientField = at('client');
const stored = () => {
  try {
    return localStorage.getItem(CLIENT) ?? '';
  } catch {
    return '';
  }
};
const store = (id) => {
  try {
    localStorage.setItem(CLIENT, id);
  } catch {
    // Blocked: the reader types it again.
  }
};

// ── Signing in ───────────────────────────────────────────────────────────────────────────
let session;
const say = (text) => {
  at('signed').textContent = text;
};
const showSession = () => {
  const isSignedIn = session?.isSignedIn === true;
  at('sign-in').hidden = isSignedIn;
  at('sign-out').hidden = !isSignedIn;
  say(isSignedIn ? 'Signed in: your rights count.' : 'Nobody is signed in: public data only.');
};
const open = async (options) => {
  const clientId = clientField.value.trim() || undefined;
  const redirectUri = new URL(path, location.href).href;
  ({ session } = await signIn({ url: base, issuer, clientId, redirectUri, storage: 'tab', ...options }));
  showSession();
};
if (issuer !== undefined) {
  clientField.value = stored();
  const opened = open({ required: false }).catch(() => showSession());
  at('sign-in').addEventListener('click', async () => {
    store(clientField.value.trim());
    say('Sign in in the other window…');
    try {
      await open({ popup: true });
    } catch (error) {
      const isUnknown = error.code === 'page_not_registered';
      if (isUnknown) at('registration').open = true;
      say(`${error.message}.`);
    }
  });
  at('sign-out').addEventListener('click', async () => {
    await session.signOut().catch(() => {});
    showSession();
  });
  void opened;
}

// ── Output ───────────────────────────────────────────────────────────────────────────────
const requests = at('requests');
const output = at('output');
const status = at('status');
const LINES_MAX = 200;
const BODY_CHARACTERS_MAX = 20_000;

const element = (name, text, properties = {}) =>
  Object.assign(document.createElement(name), { textContent: text, ...properties });
const shorten = (text) =>
  text.length > BODY_CHARACTERS_MAX ? `${text.slice(0, BODY_CHARACTERS_MAX)}…` : text;
const pretty = (text) => {
  try {
    return shorten(JSON.stringify(JSON.parse(text), undefined, 2));
  } catch {
    return shorten(text);
  }
};
const print = (text, className = '') => {
  if (output.childElementCount < LINES_MAX) output.append(element('pre', text, { className, tabIndex: 0 }));
};
/** A request, whose answer is filled in when it comes. */
const list = ({ method, url, body }) => {
  const details = element('details', '');
  const summary = element('summary', `${method} ${url.slice(base.length)} …`);
  const answer = element('pre', '', { tabIndex: 0 });
  details.append(summary);
  if (typeof body === 'string') details.append(element('pre', pretty(body), { tabIndex: 0 }));
  details.append(answer);
  const item = element('li', '');
  item.append(details);
  if (requests.childElementCount < LINES_MAX) requests.append(item);
  return (outcome, text) => {
    summary.textContent = `${method} ${url.slice(base.length)} → ${outcome}`;
    answer.textContent = pretty(text);
  };
};

// ── Requests of the frame ────────────────────────────────────────────────────────────────
const authorized = async ({ method, url, headers, body, signal }) => {
  const send = async () => {
    const authorization = (await session?.authorize({ method, url, signal })) ?? {};
    const response = await fetch(url, {
      ...{ method, body, signal, cache: 'no-store' },
      headers: { ...headers, ...authorization },
    });
    return { authorization, response };
  };
  const { authorization, response } = await send();
  const isAnother = response.status === 401 && (await session?.refused(response, authorization));
  return isAnother ? (await send()).response : response;
};

/** Sends a request for the frame, to this installation alone. */
const carryOut = async (port, { id, url, method, headers, body }, signal) => {
  const fill = list({ method, url, body });
  try {
    if (!url.startsWith(`${base}/`))
      throw new Error('the playground sends requests to this installation only');
    const response = await authorized({ method, url, headers, body, signal });
    const hasBody = response.body !== null && ![204, 205, 304].includes(response.status);
    port.postMessage({ kind: 'head', id, status: response.status, headers: [...response.headers], hasBody });
    let text = '';
    const decoder = new TextDecoder();
    if (hasBody)
      for (const reader = response.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        if (text.length < BODY_CHARACTERS_MAX) text += decoder.decode(value, { stream: true });
        fill(`${response.status} …`, text);
        port.postMessage({ kind: 'chunk', id, bytes: value });
      }
    port.postMessage({ kind: 'end', id });
    fill(response.status, text);
  } catch (error) {
    fill(signal.aborted ? 'stopped' : 'no answer', '');
    port.postMessage({ kind: 'failed', id, message: error.message });
  }
};

// ── Running ──────────────────────────────────────────────────────────────────────────────
let stop = () => {};
const run = () => {
  stop();
  requests.replaceChildren();
  output.replaceChildren();
  const leaving = new AbortController();
  const box = element('iframe', '', { title: 'The running lines', hidden: true, src: frame });
  box.sandbox.add('allow-scripts');
  const { port1: port, port2: theirs } = new MessageChannel();
  const aborts = new Map();
  const end = (text) => {
    leaving.abort();
    port.close();
    box.remove();
    status.textContent = text;
    at('stop').hidden = true;
    stop = () => {};
  };
  stop = () => end('Stopped.');
  port.onmessage = ({ data }) => {
    if (data.kind === 'show') print(data.text);
    else if (data.kind === 'abort') aborts.get(data.id)?.abort();
    else if (data.kind === 'fetch') {
      const aborting = new AbortController();
      aborts.set(data.id, aborting);
      void carryOut(port, data, AbortSignal.any([leaving.signal, aborting.signal]));
    } else if (data.kind === 'done') {
      if (data.error !== undefined) print(data.error, 'refusal');
      if (data.refused !== undefined) print(data.refused, 'refusal');
      end(data.error === undefined ? 'Done.' : 'Refused.');
    }
  };
  box.addEventListener('load', () =>
    box.contentWindow.postMessage({ code: at('code').value, url: base }, '*', [theirs]),
  );
  status.textContent = 'Running…';
  at('stop').hidden = false;
  document.body.append(box);
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  run();
});
at('stop').addEventListener('click', () => stop());
at('code').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
at('example').addEventListener('change', ({ target }) => {
  at('code').value = target.value;
});
at('code').value = at('example').value;
