// Search over all pages. The index loads on demand.
const area = document.querySelector('.site-search');
const field = area.querySelector('input');
const list = area.querySelector('ol');
const status = area.querySelector('[role="status"]');
const RESULTS_MAX = 12;

let loading;
const load = () => {
  loading ??= read().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
};
const read = async () => {
  const { library, index: address } = area.dataset;
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(new URL(library, location.href)),
    fetch(address),
  ]);
  if (!response.ok) throw new Error(String(response.status));
  const { index, options } = await response.json();
  return MiniSearch.loadJS(index, options);
};

const show = (results) => {
  list.replaceChildren(...results.map(entryOf));
  list.hidden = results.length === 0;
};

const entryOf = ({ path, page, heading, start }) => {
  const link = document.createElement('a');
  link.href = area.dataset.root + path.slice(1);
  link.append(textIn('b', heading), textIn('span', heading === page ? start : `${page}. ${start}`));
  const item = document.createElement('li');
  item.append(link);
  return item;
};
const textIn = (name, text) => Object.assign(document.createElement(name), { textContent: text });

const search = async () => {
  const wanted = field.value.trim();
  if (wanted === '') {
    show([]);
    status.textContent = '';
    return;
  }
  try {
    const index = await load();
    if (wanted !== field.value.trim()) return;
    const results = index.search(wanted);
    show(results.slice(0, RESULTS_MAX));
    status.textContent = results.length === 0 ? 'Nothing found' : `${results.length} found`;
  } catch {
    show([]);
    status.textContent = 'The index could not be loaded. Type again to retry.';
  }
};

const links = () => [...list.querySelectorAll('a')];
const move = (by) => {
  const all = [field, ...links()];
  const next = all[(all.indexOf(document.activeElement) + by + all.length) % all.length];
  next.focus();
};

field.addEventListener('focus', () => load().catch(() => {}));
field.addEventListener('input', search);
area.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter' && document.activeElement === field) links()[0]?.click();
  else if (event.key === 'Escape') {
    field.value = '';
    void search();
    field.focus();
  }
});
area.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget !== null && !area.contains(relatedTarget)) show([]);
});
list.addEventListener('click', () => show([]));
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  event.preventDefault();
  field.focus();
  field.select();
});
const isTyping = (target) => target.closest('input, textarea, select, [contenteditable]') !== null;
