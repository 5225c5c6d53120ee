/**
 * Starts the console. It imports nothing before it runs, so that a module that cannot be loaded leaves no
 * empty page. Browsers keep what they could not load, and an upgrade changes all addresses: only another load
 * of the page gets what is there by then.
 */

const RELOADS_MAX = 3;
const RETRY_MS = 1_000;
/** Outlasts the reloads, until the console has started. */
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

/** Otherwise a reload would replace this page by one of the browser, which does not try again. */
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
    'Check your connection, and whether the server runs. If it stays so, ask whoever runs it.',
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
