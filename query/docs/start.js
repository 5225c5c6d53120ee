// Shows the interface that /openapi.json describes. Addresses are relative, so that the page works wherever it is mounted.
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

const reference = window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  operationsSorter: 'alpha',
  validatorUrl: null,
  oauth2RedirectUrl: new URL('docs/oauth2-redirect.html', location.href).href,
});
reference.initOAuth({ usePkceWithAuthorizationCodeGrant: true });
