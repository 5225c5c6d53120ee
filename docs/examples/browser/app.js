import { createClient } from 'annals/client';
import { browserSession } from 'annals/client/sign-in';
import { clientId, url } from './settings.js';

const session = browserSession({ url, clientId, redirectUri: `${location.origin}/`, dpop: true });
const client = createClient({ url, token: session });

const at = (id) => document.getElementById(id);
const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

/** The page's own sentences, for errors whose message does not say what to do. */
const SENTENCES = {
  access_denied: 'You did not allow this page to act for you, so you are not signed in.',
  invalid_grant: 'You were signed out. Sign in again.',
  signed_out: 'You were signed out. Sign in again.',
};
const tell = (error) => {
  // Whatever aborts a request shows something else.
  if (error?.name === 'AbortError') return;
  const isUnreachable = error?.name === 'NoAnswer';
  at('problem').textContent = isUnreachable
    ? 'The server cannot be reached. Try again in a moment.'
    : (SENTENCES[error.code] ?? error.message);
};
/** Does what the user has asked for, and shows an error. */
const attempt = async (task) => {
  at('problem').textContent = '';
  try {
    await task();
  } catch (error) {
    tell(error);
  }
};

/** The open article: `#/articles/7`. */
const openId = () => Number(/^#\/articles\/(\d+)$/.exec(location.hash)?.[1] ?? 0);

/**
 * The client with which the page reads for the current user. When the user changes, `ending` aborts its
 * requests.
 */
let reader = client;
let ending = new AbortController();

const showArticles = async () => {
  const articles = await reader.articles.list({ status: 'published', sort: '-publishedAt' }).take(50);
  const items = articles.map(({ id, title, author }) =>
    element(
      'li',
      {},
      element('a', { href: `#/articles/${id}` }, title),
      element('p', { className: 'soft' }, author.name),
    ),
  );
  at('articles').replaceChildren(
    ...(items.length > 0 ? items : [element('li', { className: 'soft' }, 'Nothing is published yet.')]),
  );
};

let shownId = 0;
const showArticle = async (id) => {
  const [{ title, author, body }, comments] = await Promise.all([
    reader.articles.get(id),
    reader.articles.of(id).comments.list().take(100),
  ]);
  // The user may have opened another article by now.
  if (id !== openId()) return;
  document.title = `${title} – Reading room`;
  at('title').textContent = title;
  at('author').textContent = `by ${author.name}`;
  at('body').textContent = body;
  const items = comments.map(({ text, author }) =>
    element('li', {}, element('p', {}, text), element('p', { className: 'soft' }, author.name)),
  );
  at('comments').replaceChildren(
    ...(items.length > 0 ? items : [element('li', { className: 'soft' }, 'No comments yet.')]),
  );
  at('reading').hidden = false;
  shownId = id;
};

const show = async () => {
  const id = openId();
  at('list').hidden = id !== 0;
  if (id !== shownId) at('reading').hidden = true;
  if (id === 0) document.title = 'Reading room';
  await (id === 0 ? showArticles() : showArticle(id));
};

/** Needs no answer of the server, so that a user can sign in even if another request fails. */
const showButtons = () => {
  const { isSignedIn } = session;
  at('sign-in').hidden = isSignedIn;
  at('sign-out').hidden = !isSignedIn;
  at('add').hidden = !isSignedIn;
  at('to-comment').hidden = isSignedIn;
  at('who').textContent = '';
};

const showName = async (signal) => {
  const { name } = await reader.me();
  if (!signal.aborted) at('who').textContent = name;
};

/** Shows changes while the page is open. The cursor is older than anything read, so nothing is missed. */
const follow = async (after, signal) => {
  at('live').textContent = 'Live: changes appear by themselves.';
  for await (const { type, data } of client.follow(
    { types: ['article.*', 'comment.*'], after },
    { signal },
  )) {
    // A failed read is shown, and does not end the stream.
    if (type.startsWith('article.') && openId() === 0) await showArticles().catch(tell);
    else if (data.articleId === openId()) await showArticle(openId()).catch(tell);
  }
};

/** Loads everything for the current user. A call ends the requests and the stream of the previous one. */
const showAll = async () => {
  ending.abort();
  ending = new AbortController();
  const { signal } = ending;
  reader = client.with({ signal });
  at('live').textContent = '';
  showButtons();
  const now = await reader.request('POST', '/graphql', { query: '{ cursor }' }, { idempotencyKey: false });
  const { data } = await now.json();
  await Promise.all([show(), ...(session.isSignedIn ? [showName(signal)] : [])]);
  if (session.isSignedIn && !signal.aborted) follow(data.cursor, signal).catch(tell);
};

at('sign-in').onclick = () => attempt(() => session.signIn());
at('sign-out').onclick = () => attempt(() => session.signOut());
at('add').onsubmit = (event) => {
  event.preventDefault();
  const button = event.target.querySelector('button');
  button.disabled = true;
  void attempt(async () => {
    const text = at('text').value;
    await client.articles.of(openId()).comments.create({ text });
    at('text').value = '';
    await showArticle(openId());
  }).finally(() => {
    button.disabled = false;
  });
};
window.onhashchange = () =>
  attempt(async () => {
    await show();
    at(openId() === 0 ? 'articles-title' : 'title').focus();
  });

await attempt(() => session.start());
// Also after a change in another tab: the same user, or another one.
session.onChange(() => void attempt(showAll));
try {
  await showAll();
} catch (error) {
  tell(error);
}
