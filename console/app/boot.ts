/**
 * Starts the console. It imports nothing statically, so that a module that fails to load leaves no empty
 * page. Browsers cache failed loads of modules, and an upgrade changes all addresses: only reloading the page
 * gets the current ones.
 */

const RELOADS_MAX = 3;
const RETRY_MS = 1_000;
/** Survives the reloads, until the console has started. */
const KEY = 'annals.console.reloads';

const reloads = (): number => Number(sessionStorage.getItem(KEY) ?? 0);

const say = (title: string, text: string, isOver = false): void => {
  const place = document.getElementById('console');
  const main = document.createElement('main');
  main.className = 'threshold';
  main.id = 'main';
  const line = element('p', text);
  line.setAttribute('role', 'alert');
  main.append(element('h1', title), line);
  if (isOver) main.append(again());
  place?.replaceChildren(main);
};

const element = (name: string, text: string): HTMLElement =>
  Object.assign(document.createElement(name), { textContent: text });

const again = (): HTMLElement => {
  const button = element('button', 'Try again');
  button.className = 'primary';
  button.addEventListener('click', () => location.reload());
  return button;
};

/** Without a server, a reload would show the error page of the browser, which does not retry. */
const isServerThere = async (): Promise<boolean> => {
  const response = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(
    () => undefined,
  );
  return response?.ok === true;
};

const failed = async (): Promise<void> => {
  for (let count = reloads(); count < RELOADS_MAX; count += 1) {
    say('The console could not be loaded', 'Trying again …');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** count));
    sessionStorage.setItem(KEY, String(count + 1));
    if (await isServerThere()) return location.reload();
  }
  sessionStorage.removeItem(KEY);
  say(
    'The console could not be loaded',
    'Check your connection and that the server is running. If the problem persists, ask the operator.',
    true,
  );
};

try {
  await import('./main.ts');
  sessionStorage.removeItem(KEY);
} catch (error) {
  console.error(error);
  await failed();
}
