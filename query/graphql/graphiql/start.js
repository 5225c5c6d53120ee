// Shows GraphiQL. Addresses are relative, so that the page works wherever it is mounted.
const { editorWorker, jsonWorker, graphqlWorker } = document.currentScript.dataset;
const workers = { editorWorkerService: editorWorker, json: jsonWorker, graphql: graphqlWorker };
window.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => new URL(workers[label] ?? editorWorker, location.href).href,
};

// Facts of the domain, from the server.
const latest = JSON.parse(document.currentScript.dataset.latest);

// The same for every reader: beside a query of its own, a tab from an earlier visit stays.
const WELCOME = `# Ctrl+Enter runs, Ctrl+Space completes.
# Requests have the rights of who is signed in, or of a token under “Headers”:
# {"Authorization": "Bearer …"}
# npm run -s token   prints one.
# All changes from now on: subscription { changes { type at subjectId } }

query Latest {
  me {
    name
    role
  }
  ${latest.list}(limit: 5) {
    ${latest.fields.join('\n    ')}
  }
}
`;

const quoted = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Who the requests are of; nothing where signing in is not served. */
const visitor = (signIn, name) => {
  if (signIn === undefined) return '';
  return name === undefined
    ? ' <button type="button" class="visitor" data-sign-in>Sign in</button>'
    : ` <span class="visitor" title="Requests have your rights.">${name === '' ? 'Signed in' : quoted(name)}</span>`;
};

const TABS = 'graphiql:tabState';

/** GraphiQL opens one more tab, an empty one, beside those of an earlier visit: only what somebody has written is kept. */
const dropUnwritten = () => {
  const state = JSON.parse(localStorage.getItem(TABS) ?? 'null');
  if (!Array.isArray(state?.tabs)) return;
  const tabs = state.tabs.filter(({ query }) => query && query.trim() !== WELCOME.trim());
  if (tabs.length > 0) localStorage.setItem(TABS, JSON.stringify({ ...state, tabs, activeTabIndex: 0 }));
  else for (const name of [TABS, 'graphiql:query']) localStorage.removeItem(name);
};

const show = (signIn, name) => {
  dropUnwritten();
  window.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#graphiql'), {
    title: `<span role="heading" aria-level="1">Annals</span>${visitor(signIn, name)}`,
    // Subscriptions too are sent by POST.
    method: 'POST',
    logo: '<span class="mark" aria-hidden="true">A</span>',
    defaultQuery: WELCOME,
    defaultHeaders: '{\n  \n}',
    // A browser should not store tokens.
    shouldPersistHeaders: false,
  });
};

const { annalsSignIn } = window;
document.addEventListener('click', ({ target }) => {
  if (target.closest?.('[data-sign-in]')) annalsSignIn.start();
});
(annalsSignIn?.entered ?? Promise.resolve()).catch(() => undefined).then((name) => show(annalsSignIn, name));
