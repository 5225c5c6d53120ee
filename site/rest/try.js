// Tries an operation out with Swagger UI, which loads on demand and shows that operation only.
const { script, style } = document.querySelector('#operations').dataset;
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

const added = (name, attributes) =>
  new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), attributes, { onload: resolve });
    element.onerror = () => {
      element.remove();
      reject(new Error(`${name} has not come`));
    };
    document.head.append(element);
  });

const readDescription = async () => {
  const response = await fetch('../openapi.json');
  if (!response.ok) throw new Error(`openapi.json: ${response.status}`);
  return response.json();
};

let whole;
/** A failed load is retried the next time. */
const prepare = () => {
  whole ??= Promise.all([
    readDescription(),
    added('script', { src: script }),
    added('link', { rel: 'stylesheet', href: style }),
  ])
    .then(([description]) => description)
    .catch((error) => {
      whole = undefined;
      throw error;
    });
  return whole;
};

/** The OpenAPI document of one operation with its references. Of refusals, the codes are enough. */
const partOf = ({ openapi, info, servers, paths, components }, id) => {
  const [path, method, operation] = Object.entries(paths)
    .flatMap(([address, methods]) => Object.entries(methods).map(([name, each]) => [address, name, each]))
    .find(([, , { operationId }]) => operationId === id);
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    status < 400 ? response : { description: response.description },
  ]);
  const part = {
    ...{ openapi, info: { title: info.title, version: info.version }, servers },
    paths: { [path]: { [method]: { ...operation, responses: Object.fromEntries(responses) } } },
    components: { securitySchemes: components.securitySchemes },
  };
  const collect = (value) => {
    if (typeof value !== 'object' || value === null) return;
    const [, , kind, name] = typeof value.$ref === 'string' ? value.$ref.split('/') : [];
    if (name !== undefined) {
      part.components[kind] ??= {};
      if (name in part.components[kind]) return;
      part.components[kind][name] = components[kind][name];
      collect(components[kind][name]);
    }
    Object.values(value).forEach(collect);
  };
  collect(part.paths);
  return part;
};

// Signing in for one operation is signing in for all.
const drawn = new Set();
let isTelling = false;
const tellingOthers = (name) => (original, system) => (payload) => {
  original(payload);
  if (isTelling) return;
  isTelling = true;
  for (const other of drawn) if (other.getStore() !== system.getStore()) other.authActions[name](payload);
  isTelling = false;
};
const ACTIONS = ['authorize', 'authorizeOauth2', 'logout'];
const sharing = {
  statePlugins: {
    auth: { wrapActions: Object.fromEntries(ACTIONS.map((name) => [name, tellingOthers(name)])) },
  },
};

/** Swagger UI renders in steps that move each other, and does not report when it is done. */
const QUIET_MS = 100;

const draw = (description, place) =>
  new Promise((resolve) => {
    const reference = window.SwaggerUIBundle({
      spec: description,
      domNode: place,
      tryItOutEnabled: true,
      docExpansion: 'full',
      defaultModelsExpandDepth: -1,
      validatorUrl: null,
      oauth2RedirectUrl: new URL('oauth2-redirect.html', location.href).href,
      plugins: [sharing],
    });
    reference.initOAuth({ usePkceWithAuthorizationCodeGrant: true });
    const [other] = drawn;
    if (other)
      reference.authActions.restoreAuthorization({ authorized: other.authSelectors.authorized().toJS() });
    drawn.add(reference.getSystem());
    const settle = () => {
      watched.disconnect();
      // The page has a `main` element already.
      place.querySelector('main')?.setAttribute('role', 'group');
      resolve();
    };
    let settling;
    const watched = new MutationObserver(() => {
      clearTimeout(settling);
      if (place.querySelector('.execute')) settling = setTimeout(settle, QUIET_MS);
    });
    watched.observe(place, { childList: true, subtree: true });
  });

const tryOut = async (operation, say) => {
  const place = document.createElement('div');
  place.className = 'trying';
  operation.querySelector('.described').before(place);
  say('It is being made ready…');
  try {
    await draw(partOf(await prepare(), operation.dataset.operation), place);
    place.classList.add('is-drawn');
    say('Ready: fill it in, and press Execute.');
  } catch {
    place.remove();
    say('It could not be loaded. Press again.');
  }
};

for (const operation of document.querySelectorAll('details.operation')) {
  const button = operation.querySelector('.try button');
  const status = operation.querySelector('.try [role="status"]');
  const say = (text) => {
    status.textContent = text;
  };
  button.addEventListener('click', async () => {
    const isWanted = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', isWanted);
    operation.classList.toggle('is-tried', isWanted);
    if (!isWanted) return say('');
    if (!operation.querySelector('.trying')) await tryOut(operation, say);
    const isThere = operation.querySelector('.trying') !== null;
    if (isThere) return;
    button.setAttribute('aria-pressed', false);
    operation.classList.remove('is-tried');
  });
}
