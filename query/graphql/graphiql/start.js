// Shows GraphiQL. Addresses are relative, so that the page works wherever it is mounted.
const { editorWorker, jsonWorker, graphqlWorker } = document.currentScript.dataset;
const workers = { editorWorkerService: editorWorker, json: jsonWorker, graphql: graphqlWorker };
window.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => new URL(workers[label] ?? editorWorker, location.href).href,
};

// Facts of the domain, from the server.
const latest = JSON.parse(document.currentScript.dataset.latest);

const WELCOME = `# Ctrl+Enter runs, Ctrl+Space completes.
# A token goes under “Headers”:
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

window.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#graphiql'), {
  title: '<span role="heading" aria-level="1">Annals</span>',
  // Subscriptions too are sent by POST.
  method: 'POST',
  logo: '<span class="mark" aria-hidden="true">A</span>',
  defaultQuery: WELCOME,
  defaultHeaders: '{\n  \n}',
  // A browser should not store tokens.
  shouldPersistHeaders: false,
});
